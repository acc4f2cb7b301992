#if canImport(Darwin)
    import Dispatch

    /// Listens to the system asking for memory, as long as it is there.
    ///
    /// Unchecked: the sources are set once, and touched by the initializer and the deinitializer only.
    final class MemoryPressure: @unchecked Sendable {
        private let sources: [any DispatchSourceMemoryPressure]

        /// - Parameter body: called on a queue of the system's; it is told whether memory is critical.
        init(_ body: @escaping @Sendable (_ isCritical: Bool) -> Void) {
            let queue = DispatchQueue.global(qos: .utility)
            let warning = DispatchSource.makeMemoryPressureSource(eventMask: .warning, queue: queue)
            warning.setEventHandler { body(false) }
            let critical = DispatchSource.makeMemoryPressureSource(eventMask: .critical, queue: queue)
            critical.setEventHandler { body(true) }
            sources = [warning, critical]
            for source in sources { source.activate() }
        }

        deinit {
            for source in sources { source.cancel() }
        }
    }
#endif

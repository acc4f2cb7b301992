import Synchronization

/// Idle writers, kept to use their memory again: a fresh writer costs ten allocations.
enum ArchiveWriterPool {
    private static let countLimit = 8
    private static let footprintLimit = 1 << 20
    private static let idle = Mutex<[ArchiveWriter]>([])

    static func take() -> ArchiveWriter { idle.withLock { $0.popLast() } ?? ArchiveWriter() }

    /// Whether a writer's memory is used again.
    static func keeps(_ writer: ArchiveWriter) -> Bool { writer.footprint <= footprintLimit }

    static func giveBack(_ writer: ArchiveWriter) {
        guard keeps(writer), !writer.isSpent else { return }
        // Drops the archived objects before the lock is taken: their deinitializers must not run under it.
        writer.reset()
        idle.withLock { if $0.count < countLimit { $0.append(writer) } }
    }
}

import Synchronization

/// Certificates and rules that were read from files lately, for the connections of the process.
enum TLSContexts {
    private struct Recent {
        let context: TLSContext
        let readAt: ContinuousClock.Instant
    }

    private static let lifetime: Duration = .seconds(60)
    private static let recent = Mutex<[RedisTLSSettings: Recent]>([:])

    /// Blocks while files are read.
    static func context(for settings: RedisTLSSettings) throws(SocketError) -> TLSContext {
        let now = ContinuousClock.now
        let known = recent.withLock { recent in
            recent = recent.filter { now < $0.value.readAt + lifetime }
            return recent[settings]
        }
        if let known { return known.context }
        let context = try TLSContext(settings)
        recent.withLock { $0[settings] = Recent(context: context, readAt: now) }
        return context
    }
}

#if !TLS
    /// There is none in a build without the trait `TLS`.
    struct TLSContext: Sendable {
        init(_ settings: RedisTLSSettings) throws(SocketError) {
            throw SocketError(tls: RedisTLSSettings.unsupported)
        }

        func session(withServer name: String) throws(SocketError) -> any StreamCipher {
            throw SocketError(tls: RedisTLSSettings.unsupported)
        }
    }
#endif

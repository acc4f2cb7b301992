import TypedCache

/// How long the models of a type are fresh and kept, and how much room they may take.
///
/// Freshness says when a model is loaded again, expiration when it is removed: a stale model is still shown, offline say.
public struct ModelPolicy: Sendable, Hashable {
    /// How long a model is fresh where the answer of the server does not say; zero or less: stale at once.
    public var freshness: Duration
    /// How long a model is kept, fresh or stale.
    public var expiration: Expiration
    /// How much of the type is kept in memory.
    public var memory: MemorySettings
    /// The most bytes of the type on disk, counted as in `DiskSettings`; `nil`: no limit.
    public var disk: ByteCount?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - freshness: how long a model is fresh where the server does not say; a minute by default.
    ///   - expiration: how long a model is kept; until it was not used for 30 days by default.
    ///   - memory: how much is kept in memory; 16 MiB of archives by default.
    ///   - disk: the most bytes on disk; 64 MiB by default, `nil` for no limit.
    public init(
        freshness: Duration = .seconds(60),
        expiration: Expiration = .afterIdle(.days(30)),
        memory: MemorySettings = MemorySettings(byteLimit: .mebibytes(16)),
        disk: ByteCount? = .mebibytes(64)
    ) {
        self.freshness = freshness
        self.expiration = expiration
        self.memory = memory
        self.disk = disk
    }
}

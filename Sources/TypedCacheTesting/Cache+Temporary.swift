import TypedCache

/// Gives `body` a new cache in a directory of its own, and removes the directory afterwards, however `body` ended.
///
/// Does disk I/O.
///
/// ```swift
/// try withTemporaryCache(of: City.self, clock: clock) { cities in
///     try cities.save(city, forKey: "1")
/// }
/// ```
///
/// - Parameters:
///   - type: the type of the values.
///   - memory: how much is kept in memory.
///   - disk: how much is kept on disk, and how durable a save is; `nil`: the cache is in memory alone.
///   - values: whether memory hands out one value to all fetches.
///   - expiration: how long entries may be used that are saved without an expiration.
///   - clock: where the time comes from.
///   - observer: is told everything that the cache does.
///   - body: is given the cache.
/// - Returns: the result of `body`.
/// - Throws: the error of `body`, and errors of opening the cache.
public func withTemporaryCache<Value: Encoded, Outcome>(
    of type: Value.Type,
    memory: MemorySettings = MemorySettings(),
    disk: DiskSettings? = DiskSettings(),
    values: ValueSharing = .automatic,
    expiration: Expiration = .never,
    clock: some CacheClock = SystemClock(),
    observer: (any CacheObserver)? = nil,
    _ body: (Cache<Value>) throws -> Outcome
) throws -> Outcome {
    let directory = try TemporaryDirectory()
    return try withExtendedLifetime(directory) {
        try body(
            Cache(
                name: "temporary",
                directory: directory.url,
                memory: memory,
                disk: disk,
                values: values,
                expiration: expiration,
                clock: clock,
                observer: observer
            )
        )
    }
}

/// Gives `body` a new cache in a directory of its own, and removes the directory afterwards, however `body` ended.
///
/// Runs `body` where it was called from. All else is as for the synchronous twin.
public nonisolated(nonsending) func withTemporaryCache<Value: Encoded, Outcome>(
    of type: Value.Type,
    memory: MemorySettings = MemorySettings(),
    disk: DiskSettings? = DiskSettings(),
    values: ValueSharing = .automatic,
    expiration: Expiration = .never,
    clock: some CacheClock = SystemClock(),
    observer: (any CacheObserver)? = nil,
    _ body: nonisolated(nonsending) (Cache<Value>) async throws -> Outcome
) async throws -> Outcome {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(
        Cache(
            name: "temporary",
            directory: directory.url,
            memory: memory,
            disk: disk,
            values: values,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
    )
}

// There are two of each, as of opening a cache: only the code that opens one may know that its values are Sendable.

/// Gives `body` a new cache of values that are known to be Sendable. All else is as for other values.
public func withTemporaryCache<Value: Encoded & Sendable, Outcome>(
    of type: Value.Type,
    memory: MemorySettings = MemorySettings(),
    disk: DiskSettings? = DiskSettings(),
    values: ValueSharing = .automatic,
    expiration: Expiration = .never,
    clock: some CacheClock = SystemClock(),
    observer: (any CacheObserver)? = nil,
    _ body: (Cache<Value>) throws -> Outcome
) throws -> Outcome {
    let directory = try TemporaryDirectory()
    return try withExtendedLifetime(directory) {
        try body(
            Cache(
                name: "temporary",
                directory: directory.url,
                memory: memory,
                disk: disk,
                values: values,
                expiration: expiration,
                clock: clock,
                observer: observer
            )
        )
    }
}

/// Gives `body` a new cache of values that are known to be Sendable.
///
/// Runs `body` where it was called from. All else is as for the synchronous twin.
public nonisolated(nonsending) func withTemporaryCache<Value: Encoded & Sendable, Outcome>(
    of type: Value.Type,
    memory: MemorySettings = MemorySettings(),
    disk: DiskSettings? = DiskSettings(),
    values: ValueSharing = .automatic,
    expiration: Expiration = .never,
    clock: some CacheClock = SystemClock(),
    observer: (any CacheObserver)? = nil,
    _ body: nonisolated(nonsending) (Cache<Value>) async throws -> Outcome
) async throws -> Outcome {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(
        Cache(
            name: "temporary",
            directory: directory.url,
            memory: memory,
            disk: disk,
            values: values,
            expiration: expiration,
            clock: clock,
            observer: observer
        )
    )
}

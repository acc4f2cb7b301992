import TypedCache

// There are two of each, as of opening a cache: only the code that opens one may know that its values are Sendable.

/// Calls `body` with a new cache in a new directory, and removes the directory afterwards, also if `body` throws.
///
/// Does disk I/O.
///
/// ```swift
/// try withTemporaryCache(of: City.self, settings: CacheSettings(clock: clock)) { cities in
///     try cities.save(city, forKey: "1")
/// }
/// ```
///
/// - Parameters:
///   - type: the type of the values.
///   - settings: the limits of the cache, and how long its entries live; `CacheSettings.failing(by:)` makes its disk fail.
///   - body: is given the cache.
/// - Returns: the result of `body`.
/// - Throws: the error of `body`, and errors of opening the cache.
public func withTemporaryCache<Value: Encoded, Outcome>(
    of type: Value.Type,
    settings: CacheSettings<Value> = CacheSettings(),
    _ body: (Cache<Value>) throws -> Outcome
) throws -> Outcome {
    let directory = try TemporaryDirectory()
    return try withExtendedLifetime(directory) {
        try body(Cache(name: "temporary", directory: directory.url, settings: settings))
    }
}

/// Calls `body` with a new cache in a new directory, and removes the directory afterwards, also if `body` throws.
///
/// Runs `body` where it was called from. All else is as for the synchronous twin.
public nonisolated(nonsending) func withTemporaryCache<Value: Encoded, Outcome>(
    of type: Value.Type,
    settings: CacheSettings<Value> = CacheSettings(),
    _ body: nonisolated(nonsending) (Cache<Value>) async throws -> Outcome
) async throws -> Outcome {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(Cache(name: "temporary", directory: directory.url, settings: settings))
}

/// Gives `body` a new cache of values that are known to be Sendable. All else is as for other values.
public func withTemporaryCache<Value: Encoded & Sendable, Outcome>(
    of type: Value.Type,
    settings: CacheSettings<Value> = CacheSettings(),
    _ body: (Cache<Value>) throws -> Outcome
) throws -> Outcome {
    let directory = try TemporaryDirectory()
    return try withExtendedLifetime(directory) {
        try body(Cache(name: "temporary", directory: directory.url, settings: settings))
    }
}

/// Gives `body` a new cache of values that are known to be Sendable.
///
/// Runs `body` where it was called from. All else is as for the synchronous twin.
public nonisolated(nonsending) func withTemporaryCache<Value: Encoded & Sendable, Outcome>(
    of type: Value.Type,
    settings: CacheSettings<Value> = CacheSettings(),
    _ body: nonisolated(nonsending) (Cache<Value>) async throws -> Outcome
) async throws -> Outcome {
    let directory = try TemporaryDirectory()
    defer { withExtendedLifetime(directory) {} }
    return try await body(Cache(name: "temporary", directory: directory.url, settings: settings))
}

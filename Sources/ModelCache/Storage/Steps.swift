import Synchronization

/// Makes a change of several entries one step: a reader sees all of it or nothing, whatever tables they are in.
///
/// Readers take no lock: they read once more if entries were changed in the meantime.
final class Steps: Sendable {
    /// Even; odd while entries are changed.
    private let version = Atomic<UInt64>(0)
    private let changing = Mutex(())
    /// How often a reader is disturbed before it keeps merges away: a disk is slower than they are.
    private static let attempts = 8

    /// Changes entries in one step. Must not be called by `body`, which does no I/O.
    func change<Result>(_ body: () -> sending Result) -> sending Result {
        changing.withLock { _ in
            version.add(1, ordering: .sequentiallyConsistent)
            defer { version.add(1, ordering: .sequentiallyConsistent) }
            return body()
        }
    }

    /// Reads entries as they are between two steps.
    ///
    /// - Parameters:
    ///   - turns: of merges; must not be the caller's own.
    ///   - read: is called again if entries were changed in the meantime.
    nonisolated(nonsending) func reading<Found>(
        _ turns: Turns,
        _ read: nonisolated(nonsending) () async throws(ModelCacheError) -> Found
    ) async throws(ModelCacheError) -> Found {
        for _ in 0..<Self.attempts {
            if let found = try await undisturbed(read) { return found }
        }
        return try await turns.run { () async throws(ModelCacheError) in
            // Merges wait in the meantime; unconfirmed changes that the program shows or takes away still disturb.
            while true {
                if let found = try await undisturbed(read) { return found }
            }
        }
    }

    /// Reads entries as they are between two steps, without suspending.
    ///
    /// - Returns: `nil` if entries are being changed, or if `read` returns that.
    func readingAtOnce<Found>(_ read: () throws(ModelCacheError) -> Found?) throws(ModelCacheError) -> Found? {
        let before = version.load(ordering: .sequentiallyConsistent)
        guard before.isMultiple(of: 2) else { return nil }
        let found = try read()
        return version.load(ordering: .sequentiallyConsistent) == before ? found : nil
    }

    private nonisolated(nonsending) func undisturbed<Found>(
        _ read: nonisolated(nonsending) () async throws(ModelCacheError) -> Found
    ) async throws(ModelCacheError) -> Found? {
        let before = version.load(ordering: .sequentiallyConsistent)
        guard before.isMultiple(of: 2) else {
            await Task.yield()
            return nil
        }
        let found = try await read()
        return version.load(ordering: .sequentiallyConsistent) == before ? found : nil
    }
}

import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        try fetch(forKey: key, offset.clock)
    }

    /// - Parameter clock: the one by which the entry's times are given; that of no difference gives the engine's times.
    func fetch(forKey key: String, _ clock: EngineClock) throws(StoreError) -> StoredArchive? {
        guard let (entry, bytes) = try read(try StoreKey(key), clock) else { return nil }
        do throws(StoreError) {
            return try entry.archive(in: bytes)
        } catch {
            if error.code == .corrupted {
                _ = try engine.ask([entry.removal(of: bytes)], action: EngineEntry.reading)
            }
            throw error
        }
    }

    package func fetch(
        forKeys keys: [String],
        isUrgent: Bool
    ) async -> [Result<StoredArchive?, StoreError>] {
        await fetch(forKeys: keys, isUrgent: isUrgent, offset.clock)
    }

    /// As ``fetch(forKeys:isUrgent:)``, with the times of a clock.
    func fetch(
        forKeys keys: [String],
        isUrgent: Bool,
        _ clock: EngineClock
    ) async -> [Result<StoredArchive?, StoreError>] {
        var results: [Result<StoredArchive?, StoreError>] = []
        results.reserveCapacity(keys.count)
        // Answers of no more at once are in memory before they are read.
        for start in stride(from: 0, to: keys.count, by: Self.fetchedAtOnce) {
            let some = Array(keys[start..<min(start + Self.fetchedAtOnce, keys.count)])
            do throws(StoreError) {
                results += try await fetchAtOnce(some, isUrgent: isUrgent, clock)
            } catch {
                results += some.map { _ in .failure(error) }
            }
        }
        return results
    }

    private static let fetchedAtOnce = 128

    private func fetchAtOnce(
        _ keys: [String],
        isUrgent: Bool,
        _ clock: EngineClock
    ) async throws(StoreError) -> [Result<StoredArchive?, StoreError>] {
        let keys = try keys.map { key throws(StoreError) in try StoreKey(key) }
        let isOwed = keys.map { view.isOwed($0) }
        if isOwed.allSatisfy({ $0 }) { return keys.map { _ in .success(nil) } }
        let found = try await request(Insisting(ReadEntries(keys)), isUrgent: isUrgent)
        var results: [Result<StoredArchive?, StoreError>] = []
        for (index, key) in keys.enumerated() {
            let entry = EngineEntry(key: key, name: found[index].name, clock: clock)
            let value = found[index].value
            do throws(StoreError) {
                let bytes =
                    isOwed[index] || view.isOwed(key) ? nil : try EngineEntry.bytes(value, EngineEntry.reading)
                count(found: bytes != nil)
                results.append(
                    .success(try bytes.map { bytes throws(StoreError) in try entry.archive(in: bytes) })
                )
            } catch {
                if error.code == .corrupted, let bytes = value.bytes { await takeAway(entry, bytes) }
                results.append(.failure(error))
            }
        }
        return results
    }

    /// Removes a damaged entry, if it is still the same.
    private func takeAway(_ entry: EngineEntry, _ bytes: [UInt8]) async {
        do throws(StoreError) {
            _ = try await engine.request([entry.removal(of: bytes)], action: EngineEntry.reading)
        } catch {
            // The next fetch finds it again.
        }
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        guard let (entry, bytes) = try read(try StoreKey(key), offset.clock) else { return nil }
        let stored = try entry.archive(in: bytes)
        _ = body(stored.archive)
        return stored.information
    }

    /// The bytes of an entry and its place in the engine.
    private func read(_ key: StoreKey, _ clock: EngineClock) throws(StoreError) -> (
        entry: EngineEntry, bytes: [UInt8]
    )? {
        if view.isOwed(key) { return nil }
        let found = try ask(Insisting(ReadEntries([key])))[0]
        let entry = EngineEntry(key: key, name: found.name, clock: clock)
        let bytes = try EngineEntry.bytes(found.value, EngineEntry.reading)
        count(found: bytes != nil)
        return bytes.map { (entry, $0) }
    }

    private func count(found: Bool) {
        engine.counters.count { statistics in
            if found { statistics.hits += 1 } else { statistics.misses += 1 }
        }
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        return view.isOwed(key) ? nil : try ask(Insisting(LookAtEntry(key, offset.clock)))
    }
}

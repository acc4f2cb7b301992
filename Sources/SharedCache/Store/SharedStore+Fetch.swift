import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        try fetch(forKey: key, try knownClock())
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
        isUrgent: Bool,
        mayBeOlder: Bool
    ) async -> [Result<StoredArchive?, StoreError>] {
        do throws(StoreError) {
            let clock = try await knownClock(isUrgent: isUrgent)
            if mayBeOlder, let replicas = engine.replicas {
                return await fetch(forKeys: keys, from: replicas, isUrgent: isUrgent, clock)
            }
            return await fetch(forKeys: keys, isUrgent: isUrgent, clock)
        } catch {
            return keys.map { _ in .failure(error) }
        }
    }

    /// As ``fetch(forKeys:isUrgent:mayBeOlder:)``, with the times of a clock, and by the primary.
    func fetch(
        forKeys keys: [String],
        isUrgent: Bool,
        _ clock: EngineClock
    ) async -> [Result<StoredArchive?, StoreError>] {
        if keys.count <= Self.fetchedAtOnce { return await fetchPart(keys[...], isUrgent: isUrgent, clock) }
        // The entries of one part are inflated while the server sends the next part's: on Swift's own threads, of which
        // there are as many as processors.
        return await withTaskGroup(of: (start: Int, results: [Result<StoredArchive?, StoreError>]).self) { group in
            var results = [Result<StoredArchive?, StoreError>](repeating: .success(nil), count: keys.count)
            var start = 0
            func addPart() {
                guard start < keys.count else { return }
                let part = keys[start..<min(start + Self.fetchedAtOnce, keys.count)]
                start = part.endIndex
                group.addTask { (part.startIndex, await self.fetchPart(part, isUrgent: isUrgent, clock)) }
            }
            // Answers to no more parts than these are in memory before they are read.
            for _ in 0..<Self.partsAtOnce { addPart() }
            while let part = await group.next() {
                for index in part.results.indices { results[part.start + index] = part.results[index] }
                addPart()
            }
            return results
        }
    }

    static let fetchedAtOnce = 32
    private static let partsAtOnce = 4

    /// Asks for up to 32 keys at a time, and waits for each answer: several are answered by one round trip.
    package func fetch(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>] {
        stride(from: 0, to: keys.count, by: Self.fetchedAtOnce).flatMap { start in
            let part = keys[start..<min(start + Self.fetchedAtOnce, keys.count)]
            do throws(StoreError) {
                var reading = PartReading(part, in: view, try knownClock(), by: sealing)
                if reading.isOwed { return reading.results }
                reading.take(try ask(Insisting(ReadEntries(reading.keys))), view)
                for (entry, bytes) in reading.damaged {
                    bestEffort("the next fetch finds it again") { () throws(StoreError) in
                        _ = try engine.ask([entry.removal(of: bytes)], action: EngineEntry.reading)
                    }
                }
                count(hits: reading.hits, misses: reading.misses)
                return reading.results
            } catch {
                return part.map { _ in .failure(error) }
            }
        }
    }

    private func fetchPart(
        _ keys: ArraySlice<String>,
        isUrgent: Bool,
        _ clock: EngineClock
    ) async -> [Result<StoredArchive?, StoreError>] {
        do throws(StoreError) {
            var reading = PartReading(keys, in: view, clock, by: sealing)
            if reading.isOwed { return reading.results }
            reading.take(try await request(Insisting(ReadEntries(reading.keys)), isUrgent: isUrgent), view)
            for (entry, bytes) in reading.damaged { await takeAway(entry, bytes) }
            count(hits: reading.hits, misses: reading.misses)
            return reading.results
        } catch {
            return keys.map { _ in .failure(error) }
        }
    }

    /// Removes a damaged entry, if it is still the same.
    private func takeAway(_ entry: EngineEntry, _ bytes: [UInt8]) async {
        do throws(StoreError) {
            _ = try await engine.request([entry.removal(of: bytes)], action: EngineEntry.reading)
        } catch {
            // The next fetch finds it again.
        }
    }

    /// A request for some keys, and the results of its answers.
    private struct PartReading {
        /// The keys that can be asked for; a text that is not a key has its failure among the results.
        private(set) var keys: [StoreKey] = []
        /// The place of each key's result.
        private var places: [Int] = []
        private let wasOwed: [Bool]
        private let clock: EngineClock
        private let sealing: ValueSealing?
        /// For each text; no entry until its answer was taken.
        private(set) var results: [Result<StoredArchive?, StoreError>] = []
        private(set) var hits = 0
        private(set) var misses = 0
        private(set) var damaged: [(entry: EngineEntry, bytes: [UInt8])] = []

        /// Whether the server is not to be asked: a removal of every key is owed.
        var isOwed: Bool { wasOwed.allSatisfy(\.self) }

        init(
            _ texts: ArraySlice<String>,
            in view: SharedView,
            _ clock: EngineClock,
            by sealing: ValueSealing?
        ) {
            for (place, text) in texts.enumerated() {
                do throws(StoreError) {
                    keys.append(try StoreKey(text))
                    places.append(place)
                    results.append(.success(nil))
                } catch {
                    results.append(.failure(error))
                }
            }
            wasOwed = view.areOwed(keys)
            self.clock = clock
            self.sealing = sealing
        }

        mutating func take(_ found: [ReadEntries.Found], _ view: SharedView) {
            let isOwed = view.areOwed(keys)
            for (index, key) in keys.enumerated() {
                let entry = EngineEntry(key: key, name: found[index].name, clock: clock, sealing: sealing)
                let value = found[index].value
                do throws(StoreError) {
                    let bytes =
                        wasOwed[index] || isOwed[index] ? nil : try EngineEntry.bytes(value, EngineEntry.reading)
                    if bytes == nil { misses += 1 } else { hits += 1 }
                    results[places[index]] = .success(
                        try bytes.map { bytes throws(StoreError) in try entry.archive(in: bytes) }
                    )
                } catch {
                    if error.code == .corrupted, let bytes = value.bytes { damaged.append((entry, bytes)) }
                    results[places[index]] = .failure(error)
                }
            }
        }
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        guard let (entry, bytes) = try read(try StoreKey(key), try knownClock()) else { return nil }
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
        let entry = EngineEntry(key: key, name: found.name, clock: clock, sealing: sealing)
        let bytes = try EngineEntry.bytes(found.value, EngineEntry.reading)
        count(hits: bytes == nil ? 0 : 1, misses: bytes == nil ? 1 : 0)
        return bytes.map { (entry, $0) }
    }

    private func count(hits: Int, misses: Int) {
        engine.counters.count { statistics in
            statistics.hits += hits
            statistics.misses += misses
        }
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        return view.isOwed(key) ? nil : try ask(Insisting(LookAtEntry(key, try knownClock())))
    }
}

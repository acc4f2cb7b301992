import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    /// Reads entries from replicas, and from the primary if a replica has no fresh one.
    ///
    /// An entry of a replica may have been replaced before it was read, so it is doubtful: its next use in memory compares it
    /// with the primary's. Only entries of a generation are read of which the primary has just told that it is current.
    func fetch(
        forKeys keys: [String],
        from replicas: ReplicaReader,
        isUrgent: Bool,
        _ clock: EngineClock
    ) async -> [Result<StoredArchive?, StoreError>] {
        var results = [Result<StoredArchive?, StoreError>](repeating: .success(nil), count: keys.count)
        var left = Array(keys.indices)
        if view.nearRevision != nil, let generation = view.generation, !engine.breaker.isSuspect {
            let time = isUrgent ? engine.softTimeout(settings.timeouts) : settings.timeouts.soft
            let found = await read(keys, in: generation, from: replicas, within: time, clock)
            left = keys.indices.filter { found[$0] == nil }
            for (place, archive) in found { results[place] = .success(archive) }
        }
        if left.isEmpty { return results }
        let rest = await fetch(forKeys: left.map { keys[$0] }, isUrgent: isUrgent, clock)
        for (place, result) in zip(left, rest) { results[place] = result }
        return results
    }

    /// - Returns: fresh entries by the places of their keys.
    private func read(
        _ texts: [String],
        in generation: Generation,
        from replicas: ReplicaReader,
        within time: Duration,
        _ clock: EngineClock
    ) async -> [Int: StoredArchive] {
        // A text that is not a key has its failure from the primary's part.
        let keys = texts.enumerated().compactMap { place, text -> (place: Int, entry: EngineEntry)? in
            guard let key = try? StoreKey(text) else { return nil }
            let name = view.names.entry(text, generation)
            return (place, EngineEntry(key: key, name: name, clock: clock, sealing: sealing))
        }
        let commands = keys.map { ReadEntries.firstPart(of: $0.entry.name) }
        let answers = await replicas.read(commands, within: time)
        let isOwed = view.areOwed(keys.map(\.entry.key))
        var found: [Int: StoredArchive] = [:]
        for (index, (place, entry)) in keys.enumerated() where !isOwed[index] {
            // Of a large entry it is the first part alone, and a damaged one is the primary's affair.
            guard let bytes = answers[index]?.bytes, bytes.count < EngineEntry.partByteCount,
                let archive = try? entry.archive(in: bytes),
                archive.information.attributes.freshness(at: .now) == .fresh
            else { continue }
            found[place] = archive
        }
        // All entries may have been removed in the meantime.
        guard view.generation == generation else { return [:] }
        if !found.isEmpty {
            view.withView { view in
                for place in found.keys { view.near.doubt(digest(of: texts[place])) }
            }
            engine.counters.count { $0.replicaHits += found.count }
        }
        return found
    }
}

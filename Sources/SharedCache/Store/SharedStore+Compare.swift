import ArchiveStore

// Near entries are compared with the engine's by their last 59 bytes.

extension SharedStore {
    package func compare(_ entries: [KnownEntry], isUrgent: Bool) async -> [Result<Bool, StoreError>] {
        do throws(StoreError) {
            let keys = try entries.map { entry throws(StoreError) in try StoreKey(entry.key) }
            let versions = try await request(Insisting(CompareEnds(keys: keys)), isUrgent: isUrgent)
            return entries.indices.map { index in
                versions[index].map { isSame(entries[index], keys[index], as: $0) }
            }
        } catch {
            return entries.map { _ in .failure(error) }
        }
    }

    package func compare(_ entry: KnownEntry) throws(StoreError) -> Bool {
        let key = try StoreKey(entry.key)
        return isSame(entry, key, as: try ask(Insisting(CompareEnds(keys: [key])))[0].get())
    }

    private func isSame(_ entry: KnownEntry, _ key: StoreKey, as version: UInt64?) -> Bool {
        let isSame = version == entry.version && !view.isOwed(key)
        engine.counters.count { statistics in
            statistics.compares += 1
            if isSame { statistics.unchanged += 1 }
        }
        return isSame
    }
}

import Foundation

extension FileStore {
    /// Implementation: lists one shard after another; of each file, all is read but only key and footer are
    /// kept.
    package func forEachEntry(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        guard let directory = try refreshed() else { return }
        defer { withExtendedLifetime(directory) {} }
        for index in directory.shards.indices {
            guard try forEachEntry(of: directory, index, body) else { return }
        }
    }

    package var partCount: Int { EntryName.shardCount }

    /// Implementation: a part is a shard.
    package func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        guard let directory = try refreshed(), directory.shards.indices.contains(part) else { return [] }
        defer { withExtendedLifetime(directory) {} }
        var entries: [Result<EntryInformation, StoreError>] = []
        _ = try forEachEntry(of: directory, part) { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    /// Gives the entries of one shard to `body`, and says whether that never returned `false`.
    private func forEachEntry(
        of directory: StoreDirectory,
        _ index: Int,
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) -> Bool {
        let shard = directory.shards[index]
        guard let folder = try shard.refreshedDirectory() else { return true }
        var asksForKeys = true
        for (name, slot) in try names(in: folder, of: shard, index) {
            let chain = chain(name, in: folder, of: shard, directory)
            var found = Result { () throws(StoreError) in try information(slot, of: chain, shard) }
            if asksForKeys, case .failure(let error) = found, error.code == .locked {
                asksForKeys = false
                if try takeKeys() {
                    found = Result { () throws(StoreError) in try information(slot, of: chain, shard) }
                }
            }
            switch found {
            case .success(nil): continue
            case .success(let information?): guard body(.success(information)) else { return false }
            case .failure(let error): guard body(.failure(error)) else { return false }
            }
        }
        return true
    }

    /// The entry at `slot`; `nil` if it is gone, or cannot be reached from slot 0.
    private func information(
        _ slot: Int,
        of chain: SlotChain,
        _ shard: Shard
    ) throws(StoreError) -> EntryInformation? {
        switch try chain.content(slot, .information) {
        case .absent:
            return nil
        case .fault(let fault):
            throw chain.error(fault, slot: slot)
        case .entry(let entry, let status):
            guard chain.belongsHere(entry) else {
                throw chain.error(.damaged("its key has another name"), slot: slot)
            }
            let key: StoreKey
            do { key = try entry.key() } catch { throw chain.error(error, slot: slot) }
            let information = information(entry, status, of: key)
            guard slot > 0 else { return information }
            let match = try shard.withLock(on: chain.reader.directory) { () throws(StoreError) in
                try chain.find(key, .tail).match
            }
            return match.map { identity($0.entry, $0.status) } == information.identity ? information : nil
        }
    }

    /// Implementation: as ``forEachEntry(_:)``; each damaged file is looked at again while its shard is
    /// locked.
    @discardableResult
    package func removeDamagedEntries() throws(StoreError) -> Int {
        var count = 0
        guard let directory = try refreshed() else { return 0 }
        defer { withExtendedLifetime(directory) {} }
        for (index, shard) in directory.shards.enumerated() {
            guard let folder = try shard.refreshedDirectory() else { continue }
            // The last slots first, so that none is moved before its turn.
            for (name, slot) in try names(in: folder, of: shard, index).sorted(by: { $0.slot > $1.slot }) {
                let chain = chain(name, in: folder, of: shard, directory)
                guard try isDamaged(slot, of: chain) else { continue }
                count += try shard.withLock(on: folder) { () throws(StoreError) in
                    guard try isDamaged(slot, of: chain) else { return 0 }
                    chain.keep(slot)
                    try chain.vacate(slot, of: nil)
                    return 1
                }
            }
        }
        return count
    }

    private func isDamaged(_ slot: Int, of chain: SlotChain) throws(StoreError) -> Bool {
        switch try chain.content(slot, .information) {
        case .fault(.damaged): true
        case .entry(let entry, _): !chain.belongsHere(entry)
        default: false
        }
    }

    /// The names of one shard's entries. Listed before any is used, since removing files while listing them
    /// skips others on some file systems; it is a 256th of all, at about 100 bytes each.
    func names(
        in folder: Directory,
        of shard: Shard,
        _ index: Int
    ) throws(StoreError) -> [(name: EntryName, slot: Int)] {
        var names: [(name: EntryName, slot: Int)] = []
        do {
            try folder.forEachName { fileName in
                if let name = EntryName.parse(fileName, shard: index) { names.append(name) }
                return true
            }
        } catch {
            if error.isMissing { return [] }
            throw StoreError(error, path: shard.path, action: "listing entries")
        }
        return names
    }

    /// Each name of one shard's entries once, with the last of its slots, in the order of the listing.
    func lastSlots(
        in folder: Directory,
        of shard: Shard,
        _ index: Int
    ) throws(StoreError) -> [(name: EntryName, slot: Int)] {
        let names = try names(in: folder, of: shard, index)
        let last = Dictionary(names.map { ($0.name, $0.slot) }, uniquingKeysWith: max)
        return names.filter { last[$0.name] == $0.slot }
    }
}

import Sealing

extension FileStore {
    /// How often all entries are looked at: other processes may move some in the meantime, or save some with a former key.
    private static var mostPasses: Int { 4 }
    private static var renewing: String { "encrypting an entry with another key" }

    /// An entry that is encrypted with a former key.
    private struct FormerEntry {
        let name: EntryName
        let slot: Int
        let byteCount: Int
        let key: UInt64
    }

    /// The entries of each shard that are encrypted with a former key.
    private typealias FormerEntries = [(shard: Int, entries: [FormerEntry])]

    /// Implementation: no file has dead bytes.
    @discardableResult
    package func compact() throws(StoreError) -> Int {
        _ = try currentIfPresent()
        _ = try rekey { _ in true }
        return 0
    }

    /// Implementation: an entry with a former key is written again with the current one: `write` to a draft, then `rename`,
    /// while the shard is locked, if the entry is still the same. Waits for the device whatever the store's durability, for the
    /// former key may be forgotten then.
    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        guard let provider = settings.keys else { return Rekeying() }
        // The directory may have been opened before the user had this key.
        let keys = try provider.keys(for: path)
        var attempts = 0
        while let directory = try refreshed(), let sealing = directory.sealing {
            defer { withExtendedLifetime(directory) {} }
            _ = sealing.take(keys)
            do throws(StoreError) {
                try directory.renewNamesFile(keys)
                return try rekey(in: directory, sealing, while: goesOn)
            } catch {
                // The directory was emptied. Entries saved there by other processes since then get the current key as well.
                attempts += 1
                guard error.isMissingFile, attempts < Reopening.mostAttempts else { throw error }
            }
        }
        return Rekeying()
    }

    private func rekey(
        in directory: StoreDirectory,
        _ sealing: EntrySealing,
        while goesOn: (Rekeying) -> Bool
    ) throws(StoreError) -> Rekeying {
        var result = Rekeying()
        var failure: StoreError?
        var former = try formerEntries(in: directory, sealing, &failure)
        result.totalByteCount = former.reduce(0) { $0 + $1.entries.reduce(0) { $0 + $1.byteCount } }
        var goingOn = true
        for _ in 0..<Self.mostPasses where goingOn && !former.isEmpty {
            for (index, entries) in former where goingOn {
                let shard = directory.shards[index]
                guard let folder = try shard.refreshedDirectory() else { continue }
                for entry in entries where goingOn {
                    do throws(StoreError) {
                        let chain = chain(entry.name, in: folder, of: shard, directory)
                        let isRenewed = try renew(entry.slot, of: chain, shard: shard, in: directory, sealing)
                        guard isRenewed else { continue }
                        result.entryCount += 1
                        result.byteCount += entry.byteCount
                    } catch {
                        failure = failure ?? error
                    }
                    goingOn = goesOn(result)
                }
                try attempt(Self.renewing, shard.path, folder.synchronize())
            }
            if let failure { throw failure }
            former = try formerEntries(in: directory, sealing, &failure)
        }
        if let failure { throw failure }
        result.formerKeys = Set(former.flatMap { $0.entries.map(\.key) })
        return result
    }

    /// - Parameter failure: gets the first error of an entry that cannot be read, if it is `nil`.
    private func formerEntries(
        in directory: StoreDirectory,
        _ sealing: EntrySealing,
        _ failure: inout StoreError?
    ) throws(StoreError) -> FormerEntries {
        var all: FormerEntries = []
        for (index, shard) in directory.shards.enumerated() {
            guard let folder = try shard.refreshedDirectory() else { continue }
            var entries: [FormerEntry] = []
            for (name, slot) in try names(in: folder, of: shard, index) {
                do throws(StoreError) {
                    let chain = chain(name, in: folder, of: shard, directory)
                    guard let entry = try former(slot, .tail, of: chain, by: sealing), let seal = entry.seal else {
                        continue
                    }
                    let size = entry.storedByteCount
                    entries.append(FormerEntry(name: name, slot: slot, byteCount: size, key: seal.key))
                } catch {
                    failure = failure ?? error
                }
            }
            if !entries.isEmpty { all.append((index, entries)) }
        }
        return all
    }

    /// The entry in a slot, if it is encrypted with a former key. A damaged one counts as none.
    private func former(
        _ slot: Int,
        _ extent: SlotContent.Extent,
        of chain: SlotChain,
        by sealing: EntrySealing
    ) throws(StoreError) -> EntryFile? {
        switch try chain.content(slot, extent) {
        case .absent, .fault(.damaged): return nil
        case .fault(let fault): throw chain.error(fault, slot: slot)
        case .entry(let entry, _): return entry.seal?.key == sealing.currentKey ? nil : entry
        }
    }

    /// Encrypts the entry in a slot with the current key, if it has another one; returns whether it has done so.
    private func renew(
        _ slot: Int,
        of chain: SlotChain,
        shard: Shard,
        in directory: StoreDirectory,
        _ sealing: EntrySealing
    ) throws(StoreError) -> Bool {
        guard let entry = try former(slot, .archive, of: chain, by: sealing), chain.belongsHere(entry) else {
            return false
        }
        let (bytes, _) = sealing.seal(
            entry.plainBytes,
            headByteCount: entry.headByteCount,
            chain.name,
            save: entry.seal?.save
        )
        let session = try directory.session()
        let draft = try session.write(bytes, synchronized: true).name
        do throws(StoreError) {
            return try shard.withLock(on: chain.reader.directory, waits: false) { () throws(StoreError) in
                // Its size stays the same, so the journal has nothing to learn.
                guard try former(slot, .tail, of: chain, by: sealing)?.seal?.save == entry.seal?.save else {
                    session.discard(draft)
                    return false
                }
                try attempt(Self.renewing, chain.path(slot)) { () throws(SystemError) in
                    let fileName = chain.name.fileName(slot: slot)
                    try session.directory.rename(draft, to: fileName, in: chain.reader.directory)
                }
                return true
            }
        } catch {
            session.discard(draft)
            throw error
        }
    }
}

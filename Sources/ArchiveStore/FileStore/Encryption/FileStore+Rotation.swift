import Sealing

extension FileStore {
    /// How often all entries are looked at: other processes may move some in the meantime, or save some with the former key.
    private static var mostPasses: Int { 4 }
    private static var renewing: String { "encrypting an entry with another key" }

    /// Implementation: no file has dead bytes. An encrypted entry with a former key is written again with the current one:
    /// `write` to a draft, then `rename`, while the shard is locked, if the entry is still the same. Waits for the device
    /// whatever the store's durability, for the former key may be forgotten then.
    @discardableResult
    package func compact() throws(StoreError) -> Int {
        guard let keys = settings.keys else {
            _ = try currentIfPresent()
            return 0
        }
        // The directory may have been opened before the user had this key.
        let current = try keys.keys(for: path)
        guard let directory = try refreshed(), let sealing = directory.sealing else { return 0 }
        defer { withExtendedLifetime(directory) {} }
        _ = sealing.take(current)
        try directory.renewNamesFile(current)
        var failure: StoreError?
        for _ in 0..<Self.mostPasses {
            failure = nil
            var count = 0
            for (index, shard) in directory.shards.enumerated() {
                guard let folder = try shard.refreshedDirectory() else { continue }
                let former = count
                for (name, slot) in try names(in: folder, of: shard, index) {
                    do throws(StoreError) {
                        let chain = chain(name, in: folder, of: shard, directory)
                        if try renew(slot, of: chain, shard: shard, in: directory, by: sealing) { count += 1 }
                    } catch {
                        failure = failure ?? error
                    }
                }
                if count > former { try attempt(Self.renewing, shard.path, folder.synchronize()) }
            }
            if count == 0 { break }
        }
        if let failure { throw failure }
        return 0
    }

    /// Encrypts the entry in a slot with the current key, if it has another one; returns whether it had.
    ///
    /// A damaged entry is left alone.
    private func renew(
        _ slot: Int,
        of chain: SlotChain,
        shard: Shard,
        in directory: StoreDirectory,
        by sealing: EntrySealing
    ) throws(StoreError) -> Bool {
        func former(_ extent: SlotContent.Extent) throws(StoreError) -> EntryFile? {
            switch try chain.content(slot, extent) {
            case .absent, .fault(.damaged): return nil
            case .fault(let fault): throw chain.error(fault, slot: slot)
            case .entry(let entry, _): return entry.seal?.key == sealing.currentKey ? nil : entry
            }
        }
        guard try former(.tail) != nil, let entry = try former(.archive), chain.belongsHere(entry) else {
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
            try shard.withLock(on: chain.reader.directory, waits: false) { () throws(StoreError) in
                // Its size stays the same, so the journal has nothing to learn.
                guard try former(.tail)?.seal?.save == entry.seal?.save else { return session.discard(draft) }
                try attempt(Self.renewing, chain.path(slot)) { () throws(SystemError) in
                    let fileName = chain.name.fileName(slot: slot)
                    try session.directory.rename(draft, to: fileName, in: chain.reader.directory)
                }
            }
        } catch {
            session.discard(draft)
            throw error
        }
        return true
    }
}

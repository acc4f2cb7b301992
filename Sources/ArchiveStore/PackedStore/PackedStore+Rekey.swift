import Sealing

extension PackedStore {
    /// Implementation: the segments are written again, up to the last one with a former key; then the index. Waits for the device
    /// whatever the store's durability, for the former key may be forgotten then: `fdatasync` of the segments, `fsync` of the
    /// directory.
    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        guard let provider = settings.keys else { return Rekeying() }
        let keys = try provider.keys(for: path).all.map(\.identifier)
        let result = try withLog { log throws(StoreError) -> Rekeying? in
            // The log is opened again, which takes the keys.
            guard let present = log.reader.segments.keys, present.all.map(\.identifier) == keys else {
                throw .locked(path, "its keys changed again in the meantime")
            }
            let result = try log.space.rekey(while: goesOn)
            try log.commits.synchronizeAlways()
            try attempt("dropping segments", path, log.reader.segments.root.synchronize())
            bestEffort("a process without the former key reads all records") { () throws(StoreError) in
                if result.entryCount > 0 { try log.snapshots.write() }
            }
            return result
        }
        return result ?? Rekeying()
    }
}

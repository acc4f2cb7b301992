import ArchiveStore
import Foundation

/// Passes calls on to another store, but for those that are to fail.
final class FaultyStore: ArchiveStore {
    private let base: any ArchiveStore
    private let faults: DiskFaults

    init(_ base: any ArchiveStore, _ faults: DiskFaults) {
        self.base = base
        self.faults = faults
    }

    var knownSize: KnownSize? { base.knownSize }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try faults.check(.write, "saving an entry")
        return try base.save(archive, forKey: key, attributes: attributes, if: condition)
    }

    func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        try faults.check(.write, "moving a deadline")
        return try base.moveDeadline(of: entry, to: date)
    }

    func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        try faults.check(.read, "reading an entry")
        return try base.fetch(forKey: key)
    }

    func peek(forKey key: String, pieces body: ([UInt8]) -> Bool) throws(StoreError) -> EntryInformation? {
        try faults.check(.read, "reading an entry")
        return try base.peek(forKey: key, pieces: body)
    }

    func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try faults.check(.read, "looking for an entry")
        return try base.information(forKey: key)
    }

    func remove(forKey key: String) throws(StoreError) -> Bool {
        try faults.check(.remove, "removing an entry")
        return try base.remove(forKey: key)
    }

    func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        try faults.check(.remove, "removing an entry")
        return try base.remove(entry)
    }

    func removeAll() throws(StoreError) {
        try faults.check(.remove, "removing all entries")
        try base.removeAll()
    }

    func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        try faults.check(.remove, "removing expired entries")
        try base.removeExpired(at: date, removed: removed)
    }

    func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try faults.check(.remove, "removing entries with a tag")
        try base.removeAll(tagged: tag, removing: removing, removed: removed)
    }

    func removeDamagedEntries() throws(StoreError) -> Int {
        try faults.check(.remove, "removing damaged entries")
        return try base.removeDamagedEntries()
    }

    func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        try faults.check(.remove, "making room")
        try base.trim(toByteCount: byteCount, removed: removed)
    }

    func compact() throws(StoreError) -> Int {
        try faults.check(.write, "giving back room")
        return try base.compact()
    }

    func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        try faults.check(.write, "encrypting entries again")
        return try base.rekey(while: goesOn)
    }

    func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        try faults.check(.list, "listing entries")
        return try base.entries(inPart: part)
    }

    func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        try faults.check(.list, "listing entries")
        try base.forEachEntry(body)
    }

    // No faults here: the base waits for its own device, and a cache must not fail where it only looks at reported
    // entries.
    func flush() throws(StoreError) { try base.flush() }
    func close() throws(StoreError) { try base.close() }
    func settle(_ key: String?) { base.settle(key) }
    var partCount: Int { base.partCount }
    func setUser(_ user: any StoreUser) { base.setUser(user) }
    func digest(of key: String) -> KeyDigest { base.digest(of: key) }
    func changesByOthers() throws(StoreError) -> ChangesByOthers { try base.changesByOthers() }
}

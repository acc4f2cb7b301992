import ArchiveStore
import Foundation
import Synchronization
import TypedCache

extension TieredStore {
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let new = try shared.newEntry(archive, forKey: key, attributes)
        return try changing(new.key) { change throws(StoreError) in
            let saved = try shared.save(new, if: condition)
            if saved != nil { change.keep(archive, new) }
            return saved
        }
    }

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes
    ) async throws(StoreError) -> EntryInformation {
        let new = try await shared.newEntrySuspending(archive, forKey: key, attributes)
        let change = Change(new.key, self)
        do throws(StoreError) {
            let saved = try await shared.save(new)
            change.keep(archive, new)
            return saved
        } catch {
            change.drop()
            throw error
        }
    }

    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        try changing(try StoreKey(entry.key)) { change throws(StoreError) in
            defer { change.drop() }
            return try shared.moveDeadline(of: entry, to: date)
        }
    }

    // MARK: Removals

    package func remove(forKey key: String) throws(StoreError) -> Bool {
        try changing(try StoreKey(key)) { change throws(StoreError) in
            let wasThere = try shared.remove(forKey: key)
            change.drop()
            return wasThere
        }
    }

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        try changing(try StoreKey(entry.key)) { change throws(StoreError) in
            let wasThere = try shared.remove(entry)
            change.drop()
            return wasThere
        }
    }

    package func removeAll() throws(StoreError) {
        try shared.checkUsable()
        removeCopies()
        try shared.removeAll()
        removeCopies()
    }

    private func removeCopies() {
        finishChanges()
        usingDisk { () throws(StoreError) in try near.removeAll() }
    }

    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try shared.removeAll(tagged: tag, removing: removing) { entry in
            removeCopy(entry.key)
            removed(entry)
        }
        // A copy of an entry that the server has evicted.
        usingDisk { () throws(StoreError) in try near.removeAll(tagged: tag) { _ in } }
    }

    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        try shared.removeExpired(at: date, removed: removed)
        let there = date.addingTimeInterval(shared.offset.clock.secondsAhead)
        usingDisk { () throws(StoreError) in try near.removeExpired(at: there) { _ in } }
    }

    package func removeDamagedEntries() throws(StoreError) -> Int {
        usingDisk { () throws(StoreError) in _ = try near.removeDamagedEntries() }
        return try shared.removeDamagedEntries()
    }

    /// Gives up copies; the server's entries stay.
    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        try near.trim(toByteCount: byteCount, removed: removed)
    }

    package func compact() throws(StoreError) -> Int {
        _ = try shared.compact()
        return try near.compact()
    }

    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        let there = try shared.rekey(while: goesOn)
        var result = try near.rekey(while: goesOn)
        result.formerKeys.formUnion(there.formerKeys)
        return result
    }

    // MARK: Leases

    package func takeLeases(
        ofKeys keys: [String],
        unlessFresh unseen: Set<String>
    ) async throws(StoreError) -> [LeaseAnswer] {
        try await shared.takeLeases(ofKeys: keys, unlessFresh: unseen).map { answer in
            switch answer {
            case .taken(let lease): .taken(Lease(lease, self))
            case .fresh: .fresh
            }
        }
    }

    /// A lease whose saved value gets a copy.
    private final class Lease: LoadLease {
        private let base: any LoadLease
        private let store: TieredStore

        init(_ base: any LoadLease, _ store: TieredStore) {
            self.base = base
            self.store = store
        }

        var key: String { base.key }
        var foundEntry: Bool { base.foundEntry }

        func save(
            _ archive: [UInt8],
            attributes: EntryAttributes,
            if condition: () -> Bool
        ) throws(StoreError) -> EntryInformation? {
            try store.changing(try StoreKey(key)) { change throws(StoreError) in
                let saved = try base.save(archive, attributes: attributes, if: condition)
                // The copy comes with the first fetch: the server tells of this save as of any other, and the copy would
                // be compared then anyway.
                if saved != nil { change.drop() }
                return saved
            }
        }

        func giveBack() async { await base.giveBack() }
    }

    // MARK: Changes

    /// Has `body` change a key's entry on the server; a failure leaves no copy.
    private func changing<Result>(
        _ key: StoreKey,
        _ body: (Change) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let change = Change(key, self)
        do throws(StoreError) {
            return try body(change)
        } catch {
            change.drop()
            throw error
        }
    }

    /// A change of the server's entry by this process, which ends with this object if not before.
    final class Change: Sendable {
        private let key: StoreKey
        private let digest: KeyDigest
        private let store: TieredStore
        private let start: NearCopies.Start
        private let version = Mutex<UInt64?>(nil)

        init(_ key: StoreKey, _ store: TieredStore) {
            self.key = key
            self.store = store
            let digest = store.digest(of: key.string)
            self.digest = digest
            let isHeard = store.isHearing
            start = store.withCopies { $0.beginWrite(digest, isHeard: isHeard) }
        }

        deinit {
            let version = version.withLock { $0 }
            store.withCopies { $0.endWrite(digest, start, verified: version) }
        }

        /// Has the disk keep the entry that the server has now.
        func keep(_ archive: [UInt8], _ new: NewEntry) {
            store.changeCopies(archive.count) { [self] in
                let kept = store.keep(
                    archive,
                    new.attributesThere,
                    of: key,
                    version: new.information.identity.version,
                    digest: digest,
                    since: start
                )
                if kept == nil { store.removeCopy(key.string) }
                version.withLock { $0 = kept }
            }
        }

        func drop() { store.changeCopies { [self] in store.removeCopy(key.string) } }
    }
}

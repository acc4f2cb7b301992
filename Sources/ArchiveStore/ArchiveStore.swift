import Foundation

/// Archives on a device, each under a key. Knows bytes, neither values nor when an entry is too old to be
/// used.
///
/// Every function may be called from any thread and may block on I/O. Once `save` has returned, `fetch` gives the saved
/// archive, to this and every later user of the same place, until it is removed or saved over.
///
/// A key is 1 to 1,024 UTF-8 bytes, any characters; keys are equal if their bytes are. (Swift's `==` on
/// strings also takes the composed and the decomposed form of a character as equal; a store does not.) Every
/// function that takes a key throws `.invalidArgument` for any other, and `.io` if the device fails.
package protocol ArchiveStore: Sendable {
    /// This store, if it is on a server. A requirement, because a cast to a protocol takes the runtime a million
    /// instructions when a process opens its first cache.
    var asRemote: (any RemoteStore)? { get }
    /// This store, if it is one in memory; a requirement for the same reason.
    var asMemory: MemoryStore? { get }

    /// Saves `archive` for `key`, in place of the former entry.
    ///
    /// A fetch at any instant, or after this process was killed at any instant, gives either the whole old archive or
    /// the whole new one.
    ///
    /// - Parameters:
    ///   - attributes: Kept and given back. Deadlines are acted on by ``removeExpired(at:removed:)``, and where room
    ///     is needed.
    ///   - condition: Is asked right before the save, given the entry that is there for `key`, if any, while no other
    ///     caller can change it; `false` keeps the entry as it was. It must neither block nor call the store, and may
    ///     be asked several times. `nil`: no condition.
    /// - Returns: the new entry's information; `nil` if `condition` returned `false`.
    /// - Throws: `.tooLarge` beyond the store's limits, `.invalidArgument` for invalid attributes, `.io`. The former
    ///   entry is then still there, unless the failure was in waiting for the device.
    @discardableResult
    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation?

    /// Saves several archives: as ``save(_:forKey:attributes:if:)`` without a condition, one after another, but the
    /// device is waited for together, so that each archive is as safe when this returns as it would be then.
    ///
    /// Every archive is tried, even if another one fails. Other callers may see some archives before the rest is saved,
    /// and a process that is killed may have saved any of them. Of two archives for one key, the later one counts.
    ///
    /// - Returns: the result for each archive, in their order.
    func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>]

    /// Moves the end of this very entry's freshness; one that was saved over it in the meantime stays as it is.
    ///
    /// - Parameter date: `nil` means never.
    /// - Returns: the entry's information after the move; `nil` if it is not there any longer.
    func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation?

    /// Returns the archive saved for `key`; `nil` if there is none.
    ///
    /// - Throws: `.corrupted` if the entry is damaged, after it was taken out of the way: the next fetch
    ///   gives `nil`.
    func fetch(forKey key: String) throws(StoreError) -> StoredArchive?

    /// Returns the archives saved for several keys: as ``fetch(forKey:)``, one after another, but the device may be read
    /// for many of them at once.
    ///
    /// Every key is tried, even if another one fails.
    ///
    /// - Returns: the result for each key, in their order.
    func fetch(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>]

    /// As ``fetch(forKey:)``, checks included, but changes nothing: a damaged entry stays where it is, and reading an
    /// entry does not count as a use. The archive is inflated in pieces and not held whole.
    ///
    /// - Parameter body: is given the archive's bytes in their order, a piece at a time; `false` ends the call. It must
    ///   not call the store.
    /// - Returns: the entry's information; `nil` if there is none.
    /// - Throws: `.corrupted` if the entry is damaged, which may show after some pieces were given.
    func peek(forKey key: String, pieces body: ([UInt8]) -> Bool) throws(StoreError) -> EntryInformation?

    /// As ``fetch(forKey:)``, checks included, but the archive is not inflated.
    func information(forKey key: String) throws(StoreError) -> EntryInformation?

    /// Removes the entry saved for `key`, and says whether there was anything to remove.
    @discardableResult
    func remove(forKey key: String) throws(StoreError) -> Bool

    /// Removes the entries saved for several keys: as ``remove(forKey:)``, one after another, but the device is waited
    /// for together.
    ///
    /// - Returns: whether there was anything to remove, or why it could not be removed, for each key in their order.
    func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>]

    /// Removes this very entry if it is still there, and says whether it was. One that was saved over it in the meantime
    /// stays, and so does the entry itself if its deadline was moved: see ``removeSave(of:)``.
    @discardableResult
    func remove(_ entry: EntryInformation) throws(StoreError) -> Bool

    /// Removes every entry that is there when the call starts.
    func removeAll() throws(StoreError)

    /// Removes every entry that is of no use any longer at `date`: see ``Freshness``.
    ///
    /// - Parameter removed: is given each entry after its removal.
    func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError)

    /// Removes every entry that has a tag and is there when the call starts.
    ///
    /// - Parameters:
    ///   - removing: is given each entry right before its removal, which may still fail or find another entry; must
    ///     neither block nor call the store.
    ///   - removed: is given each entry after its removal.
    func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError)

    /// Removes every damaged entry and returns their number.
    @discardableResult
    func removeDamagedEntries() throws(StoreError) -> Int

    /// Evicts entries, the least useful first, until all together take no more than so many bytes.
    ///
    /// - Parameter removed: is given each entry after its removal.
    func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError)

    /// Gives back the space of dead bytes: those of entries that were removed or saved over; and encrypts the
    /// entries with the current key that have a former one.
    ///
    /// Every entry that is there stays as it is; other callers may use the store in the meantime. A process that is killed at
    /// any instant loses nothing.
    ///
    /// - Returns: how many bytes were given back.
    @discardableResult
    func compact() throws(StoreError) -> Int

    /// Asks for the keys again, and encrypts the entries with the current one that have a former one.
    ///
    /// Every entry that is there stays as it is, but for those that a store at its limit has no room to write again. Other
    /// callers may use the store in the meantime. A process that is killed at any instant loses nothing.
    ///
    /// - Parameter goesOn: is called now and then with the progress; rekeying ends where it returns `false`.
    func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying

    /// Waits until all saves that returned are where they would be after a crash.
    ///
    /// - Throws: the first failure since the last call, of a store that defers its work.
    func flush() throws(StoreError)

    /// Flushes, then gives back every lock and file of the store; waits for calls that are under way. Every later call
    /// throws `.closed`, but for another one of this, which does nothing.
    ///
    /// - Throws: as ``flush()``; the store is closed then, too. `.forked` in a child process.
    func close() throws(StoreError)

    /// Waits until the deferred saves of a key are written, or those of all keys if it is `nil`.
    func settle(_ key: String?)

    /// The store's size as far as it is known without I/O; `nil` if it is not.
    var knownSize: KnownSize? { get }

    /// The number of parts in which the entries can be listed.
    var partCount: Int { get }

    /// The entries of one part, as ``forEachEntry(_:)`` gives them.
    func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>]

    /// Gives the entries of one part to `body`, until that returns `false`; with their archives, where reading an entry
    /// reads its archive, too, and that has no more than `byteCount` bytes.
    ///
    /// - Parameters:
    ///   - initial: the state before the first entry. A store whose directory was replaced in the meantime begins again, and
    ///     with this state.
    ///   - body: for an entry without an archive, `peek` reads that, or tells why not.
    /// - Returns: the state after the last entry.
    func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, StoreError>, _ archive: [UInt8]?) -> Bool
    ) throws(StoreError) -> State

    /// Sets the user that the store asks and tells from now on, as long as that exists.
    func setUser(_ user: any StoreUser)

    /// The digest that stands for a key in ``changesByOthers()``.
    func digest(of key: String) -> KeyDigest

    /// The changes by other processes since the last call, if the store was asked to follow them; fast where nothing
    /// has changed.
    func changesByOthers() throws(StoreError) -> ChangesByOthers

    /// Grows with each change that ``changesByOthers()`` has to tell of: while it is as it was before that call, there
    /// is nothing to ask for. `nil`: ask each time.
    var changeMark: UInt64? { get }

    /// Gives each entry to `body`, or why it cannot be read, until `body` returns `false`.
    ///
    /// In no order. An entry that is saved or removed in the meantime may or may not be given; every other entry is given
    /// once. `body` may call the store. Damaged entries are given as `.corrupted` and left alone.
    ///
    /// - Complexity: O(*n*) in the bytes of all entries, since each one's checksum is checked; memory does
    ///   not grow with them.
    func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError)
}

extension ArchiveStore {
    package var knownSize: KnownSize? { nil }

    /// Saves an archive without a condition, and with no attributes but dates.
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        storedAt: Date,
        expiresAt: Date?
    ) throws(StoreError) {
        let attributes = EntryAttributes(storedAt: storedAt, expiresAt: expiresAt)
        try save(archive, forKey: key, attributes: attributes, if: nil)
    }

    /// One after another: for stores that have nothing to wait for together.
    package func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        saveOneByOne(archives)
    }

    package func saveOneByOne(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        archives.map { new in
            Result { () throws(StoreError) in
                try save(new.archive, forKey: new.key, attributes: new.attributes, if: nil)
            }
        }
    }

    /// One after another: for stores that read each entry by itself.
    package func fetch(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>] {
        keys.map { key in Result { () throws(StoreError) in try fetch(forKey: key) } }
    }

    /// One after another: for stores that have nothing to wait for together.
    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        keys.map { key in Result { () throws(StoreError) in try remove(forKey: key) } }
    }

    /// A fetch, in one piece: for stores that take nothing out of the way by it.
    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let stored = try fetch(forKey: key)
        if let stored { _ = body(stored.archive) }
        return stored?.information
    }

    /// As ``peek(forKey:pieces:)``, with the archive in one piece.
    package func peek(forKey key: String) throws(StoreError) -> StoredArchive? {
        var archive: [UInt8] = []
        let information = try peek(forKey: key) { piece in
            archive += piece
            return true
        }
        return information.map { StoredArchive(archive: archive, information: $0) }
    }

    /// Looks at every entry.
    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        try removeEntries(removed: removed) { $0.attributes.freshness(at: date) == .useless }
    }

    /// Looks at every entry.
    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try removeEntries(removing: removing, removed: removed) { $0.attributes.has(tag: tag) }
    }

    /// Removes every entry that has a tag and is there when the call starts.
    ///
    /// - Parameter removed: is given each entry after its removal.
    package func removeAll(tagged tag: String, removed: (EntryInformation) -> Void) throws(StoreError) {
        try removeAll(tagged: tag, removing: { _ in }, removed: removed)
    }

    /// Evicts the oldest entries.
    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        var entries: [EntryInformation] = []
        try forEachEntry { result in
            if case .success(let entry) = result { entries.append(entry) }
            return true
        }
        var excess = entries.reduce(0) { $0 + $1.storedByteCount } - byteCount
        for entry in entries.sorted(by: { $0.storedAt < $1.storedAt }) where excess > 0 {
            if try remove(entry) { removed(entry) }
            excess -= entry.storedByteCount
        }
    }

    /// Nothing: for stores that keep no dead bytes.
    package func compact() throws(StoreError) -> Int { 0 }

    /// Nothing: for stores that are not encrypted.
    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying { Rekeying() }

    /// Nothing: for stores that defer nothing.
    package func flush() throws(StoreError) {}

    /// Flushes: for stores that hold neither locks nor files.
    package func close() throws(StoreError) { try flush() }

    package func settle(_ key: String?) {}

    package var partCount: Int { 1 }

    package func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        var entries: [Result<EntryInformation, StoreError>] = []
        try forEachEntry { entry in
            entries.append(entry)
            return true
        }
        return entries
    }

    /// Without archives: for stores where a list of entries reads none.
    package func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, StoreError>, _ archive: [UInt8]?) -> Bool
    ) throws(StoreError) -> State {
        var state = initial
        for entry in try entries(inPart: part) {
            guard body(&state, entry, nil) else { break }
        }
        return state
    }

    /// Ignores the user: for stores that evict nothing on their own.
    package func setUser(_ user: any StoreUser) {}

    package func digest(of key: String) -> KeyDigest {
        KeyDigest(hashing: key)
    }

    /// Nothing: for stores of one process.
    package func changesByOthers() throws(StoreError) -> ChangesByOthers { .keys([]) }

    package var changeMark: UInt64? { nil }

    /// Removes an entry wherever its deadline was moved to in the meantime. One that was saved over it stays.
    ///
    /// Stores of one machine cannot tell a moved entry from another save of the same time and length: there, one whose
    /// deadline was moved stays, too, unless it is chosen again.
    ///
    /// - Parameter isChosen: whether the entry that is there now is to go, which looks like the one that was read.
    /// - Returns: the entry as it was removed; `nil` if it was not there any longer.
    @discardableResult
    package func removeSave(
        of entry: EntryInformation,
        where isChosen: (EntryInformation) -> Bool = { $0.attributes.serial != nil }
    ) throws(StoreError) -> EntryInformation? {
        var entry = entry
        while true {
            if try remove(entry) { return entry }
            guard let current = try information(forKey: entry.key), current.identity != entry.identity,
                current.isSave(of: entry), isChosen(current)
            else { return nil }
            entry = current
        }
    }

    /// Removes the entries that are there when the call starts and are chosen.
    package func removeEntries(
        removing: (EntryInformation) -> Void = { _ in },
        removed: (EntryInformation) -> Void,
        where isChosen: (EntryInformation) -> Bool
    ) throws(StoreError) {
        // Chosen before any is removed, so that none is missed because other entries move.
        var chosen: [EntryInformation] = []
        try forEachEntry { result in
            if case .success(let entry) = result, isChosen(entry) { chosen.append(entry) }
            return true
        }
        var failure: StoreError?
        for entry in chosen {
            do throws(StoreError) {
                removing(entry)
                if let gone = try removeSave(of: entry, where: isChosen) { removed(gone) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

extension ArchiveStore {
    package var asRemote: (any RemoteStore)? { nil }
    package var asMemory: MemoryStore? { nil }
}

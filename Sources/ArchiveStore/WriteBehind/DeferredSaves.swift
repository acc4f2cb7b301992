import Dispatch
import Foundation

/// A save that has returned, but is not written yet.
struct DeferredSave: Sendable {
    let key: StoreKey
    let archive: [UInt8]
    let attributes: EntryAttributes
    /// Its ``SaveNumber``; 0 until it is accepted.
    fileprivate(set) var number = 0

    /// The entry's information before it is written; the identity is the one that it will have.
    var information: EntryInformation {
        EntryInformation(
            key: key.string,
            attributes: attributes,
            archiveByteCount: archive.count,
            storedByteCount: archive.count + key.bytes.count + EntryFooter.byteCount,
            identity: EntryIdentity(attributes) ?? EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
    }
}

/// All saves that are not written yet, in the order in which they will be.
///
/// A key has one place in that order at most besides the one that is being written: a save takes the place of the one
/// before it that still waits, so a later call for all that was deferred need not wait for more than one write of each
/// key.
struct DeferredSaves: Sendable {
    private struct Waiting {
        var save: DeferredSave
        let place: Int
    }

    private struct Dropped {
        let save: DeferredSave
        let place: Int
        /// The number of the removal of everything that has dropped it; `nil`: a removal of its key.
        let removal: Int?
    }

    private var waiting: [[UInt8]: Waiting] = [:]
    /// Keys by place, the first one being `order[start]`; a key that was dropped is found nowhere else.
    private var order: [(place: Int, key: [UInt8])] = []
    private var start = 0
    private var writing: (save: DeferredSave, place: Int)?
    /// The save that has failed, while its failure is being told.
    private var failing: (save: DeferredSave, place: Int)?
    /// Whether the store still has the entry that the failing save was to replace.
    private var failingLeavesStale = false
    /// Saves that are not written, but seen until it is certain that the entries they were to replace are not seen
    /// instead.
    private var dropped: [[UInt8]: Dropped] = [:]
    /// How many removals of everything have begun.
    private var removalCount = 0
    private var byteCount = 0
    /// The last place that was given to a save.
    private(set) var lastPlace = 0
    /// Keys with a call under way during which no save of the key may be deferred.
    var exclusiveKeys: Set<[UInt8]> = []
    /// The first failure that neither a flush nor a close has thrown yet.
    var failure: StoreError?
    var waiters: [DispatchSemaphore] = []
    var user = StoreUserReference()
    /// Whether nothing may be deferred any longer.
    var isClosed = false
    /// The store's user, as long as a save waits, is being written, or has failed and the user is being told.
    private var keptUser: (any StoreUser)?

    /// Defers a save, unless there is no room for it.
    mutating func put(_ save: DeferredSave, byteLimit: Int) -> Bool {
        let former = waiting[save.key.bytes]
        let others = byteCount - (former?.save.archive.count ?? 0)
        guard others == 0 || others + save.archive.count <= byteLimit else { return false }
        byteCount = others + save.archive.count
        var save = save
        save.number = SaveNumber.next()
        dropped[save.key.bytes] = nil
        if keptUser == nil { keptUser = user.user }
        if let former {
            waiting[save.key.bytes] = Waiting(save: save, place: former.place)
            return true
        }
        lastPlace += 1
        waiting[save.key.bytes] = Waiting(save: save, place: lastPlace)
        order.append((lastPlace, save.key.bytes))
        return true
    }

    /// Takes the save that is written next; `nil` if none waits.
    ///
    /// - Precondition: nothing is being written.
    mutating func begin() -> DeferredSave? {
        while start < order.count {
            let (place, key) = order[start]
            start += 1
            if start == order.count || start > 1_024 {
                order.removeFirst(start)
                start = 0
            }
            guard let next = waiting[key], next.place == place else { continue }
            waiting[key] = nil
            writing = (next.save, place)
            return next.save
        }
        return nil
    }

    /// Ends the write that ``begin()`` began. If it failed, the save is settled only after ``endTelling()``.
    ///
    /// - Parameter leavesStale: whether it failed, and the store still has the entry that it was to replace.
    /// - Returns: whether nothing takes the place of the entry that the save was to replace: neither a save that waits,
    ///   nor a removal of the key, or the save that waits again where that fails.
    mutating func end(_ save: DeferredSave, _ failure: StoreError?, leavesStale: Bool) -> Bool {
        failingLeavesStale = leavesStale
        let ended = writing.take()
        byteCount -= save.archive.count
        defer { if failure != nil { failing = ended } }
        self.failure = self.failure ?? failure
        let key = save.key.bytes
        return waiting[key] == nil && dropped[key].map { $0.removal != nil } ?? true
    }

    /// The failure that ``end(_:_:leavesStale:)`` was given has been told.
    mutating func endTelling() { failing = nil }

    /// The user that was kept, if nothing is left that it is kept for; to be released outside of the lock.
    mutating func takeIdleUser() -> (any StoreUser)? {
        waiting.isEmpty && writing == nil && failing == nil ? keptUser.take() : nil
    }

    /// Drops the save that waits for a key, so that it is not written, and says whether there was one. It is seen until
    /// ``forgetDropped(_:)``, or waits again after ``restore(_:)``.
    mutating func drop(_ key: StoreKey) -> Bool {
        guard let former = waiting.removeValue(forKey: key.bytes) else { return false }
        byteCount -= former.save.archive.count
        dropped[key.bytes] = Dropped(save: former.save, place: former.place, removal: nil)
        return true
    }

    /// Has the save that ``drop(_:)`` has dropped wait again, in its former place, unless it was forgotten; says whether
    /// it does.
    ///
    /// - Precondition: no save of the key was deferred in the meantime.
    mutating func restore(_ key: StoreKey) -> Bool {
        guard let former = dropped[key.bytes], former.removal == nil else { return false }
        dropped[key.bytes] = nil
        byteCount += former.save.archive.count
        if keptUser == nil { keptUser = user.user }
        waiting[key.bytes] = Waiting(save: former.save, place: former.place)
        let position = order[start...].firstIndex { $0.place >= former.place } ?? order.endIndex
        if position == order.endIndex || order[position].place != former.place {
            order.insert((former.place, key.bytes), at: position)
        }
        return true
    }

    mutating func forgetDropped(_ key: StoreKey) { dropped[key.bytes] = nil }

    /// Drops all saves that wait, so that they are never written. They are seen until ``forgetDropped(by:)``.
    ///
    /// - Returns: which removal of everything this is.
    mutating func dropAll() -> Int {
        removalCount += 1
        for (key, place) in waiting {
            byteCount -= place.save.archive.count
            dropped[key] = Dropped(save: place.save, place: place.place, removal: removalCount)
        }
        waiting = [:]
        order = []
        start = 0
        return removalCount
    }

    /// Saves that a removal of everything has dropped, and that no later save has replaced, in their order.
    func dropped(by removal: Int) -> [DeferredSave] {
        dropped.values.filter { $0.removal == removal }.sorted { $0.place < $1.place }.map(\.save)
    }

    /// Whether ``dropped(by:)`` still has a key.
    func isDropped(_ key: StoreKey, by removal: Int) -> Bool { dropped[key.bytes]?.removal == removal }

    mutating func forgetDropped(by removal: Int) { dropped = dropped.filter { $0.value.removal != removal } }

    func find(_ key: StoreKey) -> DeferredSave? {
        if let found = waiting[key.bytes] { return found.save }
        if let dropped = dropped[key.bytes] { return dropped.save }
        if let writing, writing.save.key.bytes == key.bytes { return writing.save }
        // Until the user knows, the entry that it was to replace must not be seen instead. One that is gone cannot be.
        guard failingLeavesStale, let failing, failing.save.key.bytes == key.bytes else { return nil }
        return failing.save
    }

    /// Whether no save of a key waits or is being written, and no failure of one is being told.
    func isSettled(_ key: StoreKey) -> Bool {
        waiting[key.bytes] == nil && writing?.save.key.bytes != key.bytes && failing?.save.key.bytes != key.bytes
    }

    /// As above, for saves of the key with a place up to this one; a save that a removal of the key has dropped may wait
    /// again, and is not settled.
    func isSettled(_ key: StoreKey, upTo place: Int) -> Bool {
        if let waiting = waiting[key.bytes], waiting.place <= place { return false }
        if let dropped = dropped[key.bytes], dropped.removal == nil, dropped.place <= place { return false }
        return ![writing, failing].contains { save in
            save.map { $0.place <= place && $0.save.key.bytes == key.bytes } ?? false
        }
    }

    /// As above, for all saves with a place up to this one; a dropped save that may wait again is not settled.
    func isSettled(upTo place: Int) -> Bool {
        if dropped.contains(where: { $0.value.removal == nil && $0.value.place <= place }) { return false }
        if let writing, writing.place <= place { return false }
        if let failing, failing.place <= place { return false }
        for next in order[start...] {
            if next.place > place { return true }
            if waiting[next.key]?.place == next.place { return false }
        }
        return true
    }

    mutating func takeWaiters() -> [DispatchSemaphore] {
        defer { waiters = [] }
        return waiters
    }
}

import Dispatch
import Foundation
import Synchronization

/// A store in which saves return before they are written; another store, the one below, has them a little later.
///
/// Every call sees the saves that wait, so only a crash shows the difference: saves that wait are lost with the
/// process. A key that is saved again while it waits is written once. Saves with a condition, removals, and calls that
/// look at many entries at once wait for the saves that were deferred before, of the same key or of all, so that the
/// order of calls for a key is the order in which the store below sees them.
///
/// A removal drops the save of its key that waits. If the removal fails, that save waits again: the key has the value that
/// it had, and not the one before.
///
/// A deferred save that fails removes the entry that it was to replace, is told to the user of this store, and is
/// thrown by the next ``flush()``.
///
/// The store and its user stay until everything that waits is written, though the program has dropped both: so the
/// other users of the directory still find them, wait for the deferred saves, and are told of failures.
package final class WriteBehindStore: ArchiveStore {
    private let below: any ArchiveStore
    private let byteLimit: Int
    private let state = Mutex(DeferredSaves())
    private let usage = StoreUsage()
    private let startWork: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - byteLimit: how many bytes of archives wait at most; a save that would exceed it waits itself. An archive that is
    ///     larger waits alone.
    ///   - startWork: has work done later, one piece after another; `nil`: on a queue. A simulation chooses the time.
    package init(
        over below: any ArchiveStore,
        byteLimit: Int,
        startWork: (@Sendable (@escaping @Sendable () -> Void) -> Void)? = nil
    ) {
        self.below = below
        self.byteLimit = max(0, byteLimit)
        let worker = DispatchQueue(
            label: "typed-cache.write-behind",
            qos: .userInitiated,
            autoreleaseFrequency: .workItem
        )
        self.startWork = startWork ?? { StoreUsage.start(on: worker, $0) }
    }

    package func setUser(_ user: any StoreUser) {
        state.withLock { $0.user = StoreUserReference(user) }
        below.setUser(user)
    }

    package var knownSize: KnownSize? { below.knownSize }

    // MARK: Saving

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try usage.check()
        let storeKey = try StoreKey(key)
        if let condition {
            return try withExclusiveKey(storeKey, dropping: false) { _ throws(StoreError) in
                let saved = try below.save(archive, forKey: key, attributes: attributes, if: condition)
                if saved != nil { state.withLock { $0.forgetDropped(storeKey) } }
                return saved
            }
        }
        var attributes = attributes
        attributes.serial = .random(in: .min ... .max)
        _ = try attributes.encoded()
        let new = DeferredSave(key: storeKey, archive: archive, attributes: attributes)
        var isClosed = false
        wait { state in
            isClosed = state.isClosed
            if isClosed { return true }
            // Not while a removal of the key is under way, which may be older.
            guard !state.exclusiveKeys.contains(storeKey.bytes) else { return false }
            return state.put(new, byteLimit: byteLimit)
        }
        if isClosed { throw usage.failure }
        startWork { self.writeNext() }
        return new.information
    }

    /// Writes the save that has waited longest. Called once for each save, so none is left.
    private func writeNext() {
        defer {
            let user = state.withLock { $0.takeIdleUser() }
            _ = consume user
        }
        // Nothing, if it was dropped or written with an earlier one.
        guard let next = state.withLock({ $0.begin() }) else { return wakeWaiters() }
        var failure: (error: StoreError, leavesStale: Bool)?
        do throws(StoreError) {
            try below.save(next.archive, forKey: next.key.string, attributes: next.attributes, if: nil)
        } catch {
            failure = (error, !isRemoved(next.key.string))
        }
        let (waiters, user, isLatest, isHeld) = state.withLock { state in
            let isLatest = state.end(next, failure?.error, leavesStale: failure?.leavesStale ?? false)
            // No later save of the key is accepted before this failure was told, so that it is not mistaken for one of
            // the later save.
            let isHeld = failure != nil && state.exclusiveKeys.insert(next.key.bytes).inserted
            return (state.takeWaiters(), state.user.user, isLatest, isHeld)
        }
        for waiter in waiters { waiter.signal() }
        guard let failure else { return }
        // A save that waits already takes the place of the entry that could not be removed.
        let leavesStale = failure.leavesStale && isLatest
        user?.didFail(toSave: next.key.string, failure.error, leavingStale: leavesStale ? next.number : nil)
        state.withLock { state in
            state.endTelling()
            if isHeld { state.exclusiveKeys.remove(next.key.bytes) }
        }
        wakeWaiters()
    }

    private func isRemoved(_ key: String) -> Bool {
        do throws(StoreError) {
            try below.remove(forKey: key)
            return true
        } catch {
            return false
        }
    }

    // MARK: Waiting

    /// Waits until `isDone` returns `true`; asks it again after each change.
    private func wait(until isDone: (inout DeferredSaves) -> Bool) {
        while true {
            let semaphore = state.withLock { state -> DispatchSemaphore? in
                if isDone(&state) { return nil }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiters.append(semaphore)
                return semaphore
            }
            guard let semaphore else { return }
            semaphore.wait()
        }
    }

    private func wakeWaiters() {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.signal() }
    }

    /// Runs `body` while no save of a key waits or is written, and no other call for it is under way.
    ///
    /// - Parameters:
    ///   - dropping: whether saves that wait are dropped. Those that `body` does not forget wait again afterwards.
    ///   - body: is told whether something was dropped.
    private func withExclusiveKey<Result>(
        _ key: StoreKey,
        dropping: Bool,
        _ body: (_ hasDropped: Bool) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try withExclusiveKeys([key], dropping: dropping) { dropped throws(StoreError) in
            try body(!dropped.isEmpty)
        }
    }

    /// As above, of several keys.
    ///
    /// - Parameter body: is told of which keys something was dropped.
    private func withExclusiveKeys<Result>(
        _ keys: [StoreKey],
        dropping: Bool,
        _ body: (_ dropped: Set<[UInt8]>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try usage.check()
        return try withExclusiveKeysEvenIfClosed(keys, dropping: dropping, body)
    }

    /// As above, also while the store is being closed.
    private func withExclusiveKeysEvenIfClosed<Result>(
        _ keys: [StoreKey],
        dropping: Bool,
        _ body: (_ dropped: Set<[UInt8]>) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        // All at once, so that no two calls wait for each other.
        wait { state in
            guard !keys.contains(where: { state.exclusiveKeys.contains($0.bytes) }) else { return false }
            for key in keys { state.exclusiveKeys.insert(key.bytes) }
            return true
        }
        defer {
            let restored = state.withLock { state in
                for key in keys { state.exclusiveKeys.remove(key.bytes) }
                return dropping ? keys.count { state.restore($0) } : 0
            }
            wakeWaiters()
            for _ in 0..<restored { startWork { self.writeNext() } }
        }
        let dropped = state.withLock { state in
            Set(keys.filter { dropping && state.drop($0) }.map(\.bytes))
        }
        wait { state in keys.allSatisfy(state.isSettled) }
        return try body(dropped)
    }

    /// Waits until everything that was deferred before is written, or has failed.
    private func settle() {
        let last = state.withLock { $0.lastPlace }
        wait { $0.isSettled(upTo: last) }
    }

    /// Waits until no save of a key that was deferred before the call waits or is written; for `nil`, no save of any key.
    /// Users of the same place that do not use this store call it before they read or write there.
    package func settle(_ key: String?) {
        if let key {
            // No save has an invalid key.
            guard let key = try? StoreKey(key) else { return }
            let last = state.withLock { $0.lastPlace }
            wait { $0.isSettled(key, upTo: last) }
        } else {
            settle()
        }
    }

    /// As above; for calls that then use the store below.
    private func settled() throws(StoreError) {
        try usage.check()
        settle()
    }

    package func close() throws(StoreError) {
        guard try usage.close() else { return }
        state.withLock { $0.isClosed = true }
        settle()
        let failure = state.withLock { $0.failure.take() }
        do throws(StoreError) {
            try below.close()
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
    }

    package func flush() throws(StoreError) {
        try settled()
        // First: if that fails too, the next flush throws the failure that this one was to throw.
        try below.flush()
        if let failure = state.withLock({ $0.failure.take() }) { throw failure }
    }

    // MARK: One entry

    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        try usage.check()
        let storeKey = try StoreKey(key)
        if let found = state.withLock({ $0.find(storeKey) }) {
            return StoredArchive(archive: found.archive, information: found.information)
        }
        return try below.fetch(forKey: key)
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        try usage.check()
        let storeKey = try StoreKey(key)
        if let found = state.withLock({ $0.find(storeKey) }) {
            _ = body(found.archive)
            return found.information
        }
        return try below.peek(forKey: key, pieces: body)
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try usage.check()
        let storeKey = try StoreKey(key)
        if let found = state.withLock({ $0.find(storeKey) }) { return found.information }
        return try below.information(forKey: key)
    }

    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        try withExclusiveKey(StoreKey(entry.key), dropping: false) { _ throws(StoreError) in
            try below.moveDeadline(of: entry, to: date)
        }
    }

    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let storeKey = try StoreKey(key)
        return try withExclusiveKey(storeKey, dropping: true) { hasDropped throws(StoreError) in
            let isRemoved = try below.remove(forKey: key)
            state.withLock { $0.forgetDropped(storeKey) }
            return isRemoved || hasDropped
        }
    }

    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        // The store below refuses invalid keys.
        let valid = keys.compactMap { key in try? StoreKey(key) }
        do throws(StoreError) {
            return try withExclusiveKeys(valid, dropping: true) { dropped throws(StoreError) in
                var dropped = dropped
                return zip(keys, below.remove(forKeys: keys)).map { key, result in
                    result.map { isRemoved in
                        if let key = try? StoreKey(key) { state.withLock { $0.forgetDropped(key) } }
                        return dropped.remove(Array(key.utf8)) != nil || isRemoved
                    }
                }
            }
        } catch {
            return keys.map { _ in .failure(error) }
        }
    }

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        try withExclusiveKey(StoreKey(entry.key), dropping: false) { _ throws(StoreError) in
            try below.remove(entry)
        }
    }

    // MARK: Many entries

    package func removeAll() throws(StoreError) {
        try usage.check()
        let removal = state.withLock { $0.dropAll() }
        defer { state.withLock { $0.forgetDropped(by: removal) } }
        wakeWaiters()
        settle()
        do throws(StoreError) {
            try below.removeAll()
        } catch {
            for save in state.withLock({ $0.dropped(by: removal) }) {
                try removeStale(save, droppedBy: removal, after: error)
            }
            throw error
        }
    }

    /// Removes the entry that a dropped save was to replace, after the removal of everything that dropped it has
    /// failed: the save had been accepted, so the former value must not be seen again.
    private func removeStale(
        _ save: DeferredSave,
        droppedBy removal: Int,
        after error: StoreError
    ) throws(StoreError) {
        let key = save.key
        try withExclusiveKeysEvenIfClosed([key], dropping: false) { _ throws(StoreError) in
            // A later save counts.
            guard state.withLock({ $0.isDropped(key, by: removal) }), !isRemoved(key.string) else { return }
            // Before a later save is accepted, so that this is not mistaken for a failure of that one.
            state.withLock { $0.user }.user?.didFail(toSave: key.string, error, leavingStale: save.number)
        }
    }

    package func removeDamagedEntries() throws(StoreError) -> Int {
        try settled()
        return try below.removeDamagedEntries()
    }

    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        try settled()
        try below.removeExpired(at: date, removed: removed)
    }

    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try settled()
        try below.removeAll(tagged: tag, removing: removing, removed: removed)
    }

    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        try settled()
        try below.trim(toByteCount: byteCount, removed: removed)
    }

    package func compact() throws(StoreError) -> Int {
        try settled()
        return try below.compact()
    }

    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        try settled()
        return try below.rekey(while: goesOn)
    }

    package func forEachEntry(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        try settled()
        try below.forEachEntry(body)
    }

    package var partCount: Int { below.partCount }

    package func entries(inPart part: Int) throws(StoreError) -> [Result<EntryInformation, StoreError>] {
        try settled()
        return try below.entries(inPart: part)
    }

    package func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, StoreError>, _ archive: [UInt8]?) -> Bool
    ) throws(StoreError) -> State {
        try settled()
        return try below.reduceEntries(inPart: part, archivesUpTo: byteCount, into: initial, body)
    }

    // MARK: Others

    package func digest(of key: String) -> KeyDigest { below.digest(of: key) }

    package func changesByOthers() throws(StoreError) -> ChangesByOthers { try below.changesByOthers() }
}

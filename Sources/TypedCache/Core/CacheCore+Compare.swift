import ArchiveStore
import Foundation

// Entries that memory has, and that another machine may have changed unheard: they are compared with the store's by
// their versions, which takes 59 bytes, and are served if they are still the same.

extension CacheCore {
    /// Whether memory has entries to be compared.
    var hasDoubts: Bool { memory.withLock { $0.hasDoubts } }

    /// Compares the entry that memory has for a key, if it is doubtful and has not expired. Blocks until the store has
    /// answered.
    ///
    /// - Parameter freshness: of the latest value, only the store knows whether memory has it.
    /// - Returns: the entry, if it may be served; `nil` if the store has to be read.
    func compare(
        _ key: EntryKey,
        _ freshness: FetchFreshness = .bounded
    ) throws(CacheError) -> MemoryEntry? {
        guard let remote, let begun = beginCompare(key, freshness) else { return nil }
        guard begun.isAsked else { return try finish(begun, .success(true)) }
        let result = Result { () throws(StoreError) in
            try listeners.observing(.read) { () throws(StoreError) in try remote.compare(begun.known) }
        }
        return try finish(begun, result)
    }

    /// Compares the doubtful entries that memory has for some keys, as ``compare(_:)`` does, and suspends the task.
    ///
    /// - Parameter isUrgent: whether the caller has something else than the answer.
    /// - Returns: the result for each key, in their order.
    nonisolated(nonsending) func compare(
        _ keys: [EntryKey],
        isUrgent: Bool,
        _ freshness: FetchFreshness = .bounded
    ) async -> [Result<MemoryEntry?, CacheError>] {
        guard let remote else { return keys.map { _ in .success(nil) } }
        let begun = keys.map { beginCompare($0, freshness) }
        let asked = begun.compactMap { $0.flatMap { $0.isAsked ? $0.known : nil } }
        var answers: [Result<Bool, StoreError>] = []
        if !asked.isEmpty {
            answers = await listeners.observing(.read) { await remote.compare(asked, isUrgent: isUrgent) }
        }
        var next = answers.makeIterator()
        return begun.map { begun in
            guard let begun else { return .success(nil) }
            let answer = begun.isAsked ? next.next() : nil
            return Result { () throws(CacheError) in try finish(begun, answer ?? .success(true)) }
        }
    }

    /// A comparison that has begun, and that must be finished.
    private final class BegunCompare: Sendable {
        let doubt: MemoryTier.Doubt
        let start: MemoryTier.Start
        let known: KnownEntry
        let freshness: FetchFreshness
        /// Whether the store is asked.
        let isAsked: Bool

        init(
            _ doubt: MemoryTier.Doubt,
            _ start: MemoryTier.Start,
            freshness: FetchFreshness,
            isAsked: Bool
        ) {
            self.freshness = freshness
            self.doubt = doubt
            self.start = start
            self.isAsked = isAsked
            known = KnownEntry(key: doubt.entry.key.text, version: doubt.entry.version)
        }
    }

    private func beginCompare(_ key: EntryKey, _ freshness: FetchFreshness) -> BegunCompare? {
        guard usage.isUsable, let remote, !memory.tombstones.contains(key) else { return nil }
        let isSilent = remote.keepingTime(ofKey: key.text) != nil
        let begun = memory.withLock { memory -> BegunCompare? in
            guard let doubt = memory.doubt(key) else { return nil }
            let isKept = isSilent && doubt.servedUntil.map { ContinuousClock.now < $0 } ?? false
            let isAsked = !isKept || freshness == .latest
            return BegunCompare(doubt, memory.beginRead(key), freshness: freshness, isAsked: isAsked)
        }
        guard let begun else { return nil }
        guard begun.doubt.entry.isFresh(at: now) else {
            release(memory.withLock { $0.endRead(key, begun.start) })
            return nil
        }
        foreignChanges?.expect(key)
        return begun
    }

    private func finish(
        _ begun: BegunCompare,
        _ result: Result<Bool, StoreError>
    ) throws(CacheError) -> MemoryEntry? {
        let entry = begun.doubt.entry
        let key = entry.key
        do throws(StoreError) {
            let isSame = try result.get()
            if !begun.isAsked {
                release(memory.withLock { $0.endRead(key, begun.start) })
                return entry
            }
            release(memory.withLock { $0.endCompare(begun.doubt, begun.start, isSame: isSame) })
            recorder.record(isSame ? .verified : .invalidated, key)
            return isSame ? entry : nil
        } catch {
            release(memory.withLock { $0.endRead(key, begun.start) })
            let isBounded = begun.freshness == .bounded
            if error.code == .unreachable, isBounded, remote?.serveUnverified() == true { return entry }
            throw failure(error, key)
        }
    }

    /// Refuses to answer a fetch of the latest value for a key that the store hides, because a change of its entry was not
    /// acknowledged: the store would answer that there is no entry, without having asked.
    ///
    /// - Throws: `.unreachable`.
    func checkAnswers(_ key: EntryKey) throws(CacheError) {
        guard let remote, remote.isOwed(key.text) || memory.tombstones.contains(key) else { return }
        let reason = "a change of the entry failed, and the server has not removed the entry yet"
        throw CacheError(.unreachable, reason).named(cache: name, key: key.text)
    }

    /// Has the entry of a key be compared before memory answers with it again, for a fetch of the latest value.
    ///
    /// - Returns: `false` for an entry that the disk has refused: memory alone has it, so it is the latest.
    func makeDoubtful(_ key: EntryKey) -> Bool {
        let isOnServer = remote != nil
        let (isDoubtful, dropped) = memory.withLock { memory -> (Bool, MemoryEntry?) in
            if !isOnServer, memory.isUnsaved(key) { return (false, nil) }
            return (true, memory.makeDoubtful(key))
        }
        _ = consume dropped
        return isDoubtful
    }
}

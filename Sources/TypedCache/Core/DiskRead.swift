import ArchiveStore
import Synchronization

/// An entry that was read from disk, and the reading: it ends when memory is given the value, or when this is released.
///
/// An object, because the reads of many keys wait in an array for the caller's thread.
final class DiskRead: Sendable {
    let key: EntryKey
    let stored: StoredArchive
    let freshness: Freshness
    /// The entry's timing if its idle deadline is being moved; `nil` if it is not.
    let timing: EntryTiming?
    private let core: CacheCore
    private let start: MemoryTier.Start
    private let isEnded = Atomic<Bool>(false)

    init(
        _ key: EntryKey,
        _ stored: StoredArchive,
        freshness: Freshness,
        timing: EntryTiming?,
        core: CacheCore,
        start: MemoryTier.Start
    ) {
        self.key = key
        self.stored = stored
        self.freshness = freshness
        self.timing = timing
        self.core = core
        self.start = start
    }

    deinit { end(keeping: nil) }

    /// Ends the reading.
    ///
    /// - Parameter entry: the entry that memory is to keep; `nil` for none.
    func end(keeping entry: MemoryEntry?) {
        if isEnded.exchange(true, ordering: .relaxed) { return }
        // Reading moves an idle deadline, whether from memory or from disk.
        if let entry { _ = core.useIfFresh(entry) }
        core.release(core.memory.withLock { $0.endRead(key, start, keeping: entry) })
    }

    /// Ends readings of one cache, each with the entry that memory is to keep; memory's lock is taken once.
    static func end(_ reads: [(read: DiskRead, entry: MemoryEntry)]) {
        guard let core = reads.first?.read.core else { return }
        for (read, entry) in reads where !read.isEnded.load(ordering: .relaxed) { _ = core.useIfFresh(entry) }
        let dropped = core.memory.withLock { memory in
            var dropped = MemoryTier.Dropped()
            for (read, entry) in reads where !read.isEnded.exchange(true, ordering: .relaxed) {
                memory.endRead(read.key, read.start, keeping: entry, into: &dropped)
            }
            return dropped
        }
        core.release(dropped)
    }
}

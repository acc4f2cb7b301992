import ArchiveStore
import Foundation

/// What is known of an entry without decoding it.
public struct CacheEntry: Sendable, Hashable {
    /// The key that it was saved for.
    public let key: String
    /// When it was saved.
    public let savedAt: Date
    /// When it expires; `nil` means never. For an idle expiration that may lag behind its last reading.
    public let expiresAt: Date?
    /// The archive's length before compression, in bytes.
    public let archiveByteCount: Int
    /// What the entry takes on disk, in bytes.
    public let storedByteCount: Int
    /// The groups that it belongs to.
    public let tags: Set<String>

    init(_ entry: EntryInformation) {
        key = entry.key
        savedAt = entry.storedAt
        expiresAt = entry.expiresAt
        archiveByteCount = entry.archiveByteCount
        storedByteCount = entry.storedByteCount
        tags = Set(entry.attributes.tags)
    }
}

/// The entries of a cache, read from disk when an iteration gets there; see ``Cache/entries``.
public struct CacheEntries: Sendable, Sequence, AsyncSequence {
    public typealias Element = CacheEntry

    let core: CacheCore

    /// An iteration that blocks on disk I/O.
    public func makeIterator() -> Iterator { Iterator(core: core) }

    /// An iteration that suspends while the disk is read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core: core) }

    /// An iteration that blocks on disk I/O.
    public struct Iterator: IteratorProtocol {
        let core: CacheCore
        private var part = 0
        private var entries: [CacheEntry] = []

        init(core: CacheCore) { self.core = core }

        public mutating func next() -> CacheEntry? {
            while entries.isEmpty, part < core.store.partCount {
                entries = core.reportingEntries(inPart: part)
                part += 1
            }
            return entries.popLast()
        }
    }

    /// An iteration that suspends while the disk is read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let core: CacheCore
        private var part = 0
        private var entries: [CacheEntry] = []

        init(core: CacheCore) { self.core = core }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> CacheEntry? {
            while entries.isEmpty, part < core.store.partCount {
                let (core, part) = (core, part)
                entries = await core.queues.run { core.reportingEntries(inPart: part) }
                self.part += 1
            }
            return entries.popLast()
        }

        public mutating func next() async -> CacheEntry? { await next(isolation: nil) }
    }
}

/// The keys of a cache, read from disk when an iteration gets there; see ``Cache/keys``.
public struct CacheKeys: Sendable, Sequence, AsyncSequence {
    public typealias Element = String

    let entries: CacheEntries

    /// An iteration that blocks on disk I/O.
    public func makeIterator() -> Iterator { Iterator(entries: entries.makeIterator()) }

    /// An iteration that suspends while the disk is read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(entries: entries.makeAsyncIterator()) }

    /// An iteration that blocks on disk I/O.
    public struct Iterator: IteratorProtocol {
        var entries: CacheEntries.Iterator

        public mutating func next() -> String? { entries.next()?.key }
    }

    /// An iteration that suspends while the disk is read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var entries: CacheEntries.AsyncIterator

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> String? {
            await entries.next(isolation: actor)?.key
        }

        public mutating func next() async -> String? { await next(isolation: nil) }
    }
}

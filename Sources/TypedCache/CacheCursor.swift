/// A listing of a cache's entries or keys, read from disk part by part.
///
/// ```swift
/// var keys = try cities.keys()
/// while let key = try keys.next() { print(key) }          // blocks
///
/// for try await entry in try cities.entries() { … }        // suspends instead
///
/// let all = try cities.keys().all()
/// ```
///
/// Gives each entry that exists during the whole listing once, in no order. An entry that is saved or removed in the
/// meantime may or may not appear. Leaves out expired and damaged entries, entries that a newer version wrote, and
/// values that are only in memory. A part of the disk that cannot be read is an error, so a listing that ends without
/// an error is complete. No lock is held between two elements.
public struct CacheCursor<Element: Sendable>: Sendable, AsyncSequence {
    private let core: CacheCore
    private let element: @Sendable (CacheEntry) -> Element?
    private var part = 0
    private var elements: [Element] = []

    /// - Parameter element: makes the listing's element from an entry; `nil` leaves the entry out.
    init(_ core: CacheCore, element: @escaping @Sendable (CacheEntry) -> Element?) {
        self.core = core
        self.element = element
    }

    private var isAtEnd: Bool { part >= core.store.partCount }

    private mutating func take(_ listing: PartListing) throws(CacheError) {
        part += 1
        elements = listing.entries.compactMap { element(CacheEntry($0)) }
        if let failure = listing.failure { throw failure }
    }

    /// Returns the next element, or `nil` at the end of the listing.
    ///
    /// Blocks on disk I/O once for a 256th of the entries.
    ///
    /// - Throws: ``CacheError`` with code `.io` if a part of the entries cannot be read. A further call goes on with
    ///   the readable parts. `.closed` and `.forked`.
    public mutating func next() throws(CacheError) -> Element? {
        while elements.isEmpty, !isAtEnd { try take(core.freshEntries(inPart: part)) }
        return elements.popLast()
    }

    /// Returns all elements that are left.
    ///
    /// Blocks on disk I/O.
    ///
    /// - Throws: as ``next()``.
    /// - Complexity: O(*n*) in the bytes of all entries.
    public consuming func all() throws(CacheError) -> [Element] {
        var all: [Element] = []
        while let element = try next() { all.append(element) }
        return all
    }

    /// An iteration over the rest of the listing, which suspends while the disk is read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: self) }

    /// An iteration that suspends while the disk is read.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var cursor: CacheCursor

        /// Returns the next element, or `nil` at the end of the listing.
        ///
        /// - Throws: as ``CacheCursor/next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(CacheError) -> Element? {
            while cursor.elements.isEmpty, !cursor.isAtEnd {
                let (core, part) = (cursor.core, cursor.part)
                try cursor.take(await core.queues.run { core.freshEntries(inPart: part) })
            }
            return cursor.elements.popLast()
        }
    }
}

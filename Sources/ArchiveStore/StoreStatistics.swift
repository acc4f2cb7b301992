/// The size of a store, as far as it is known without reading anything.
package struct KnownSize: Sendable, Equatable {
    /// `nil` if some entries were not counted yet.
    package var entryCount: Int?
    /// The bytes that count for the limit.
    package var byteCount: Int

    package init(entryCount: Int?, byteCount: Int) {
        self.entryCount = entryCount
        self.byteCount = byteCount
    }
}

/// The bytes of one segment of a packed store.
package struct SegmentUse: Sendable, Hashable {
    package let number: Int
    /// The file's length.
    package let byteCount: Int
    /// Those of the records that are their keys' latest.
    package let liveByteCount: Int

    package var deadByteCount: Int { max(0, byteCount - liveByteCount) }
}

/// The size of a store, and the bytes that it has written since it was opened.
package struct StoreStatistics: Sendable {
    package var entryCount = 0
    /// The bytes of all entries, keys and heads included.
    package var entryByteCount = 0
    /// The bytes of all files that count for the limit, dead bytes included.
    package var byteCount = 0
    /// The number of those files.
    package var fileCount = 0
    /// The bytes that were written of entries, and of records of their changes.
    package var appendedByteCount = 0
    /// The part of the written bytes that had been written before, and was rewritten to make room.
    package var carriedByteCount = 0
}

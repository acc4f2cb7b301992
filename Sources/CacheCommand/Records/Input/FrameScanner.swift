/// Finds where records end, in bytes that arrive in pieces.
protocol FrameScanner {
    /// Returns the index of the byte that ends the record, looking from `index`; `nil` if it has not come yet.
    ///
    /// Remembers the state of the scan, so that it goes on where it stopped when more bytes are there.
    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int?

    /// How many line feeds the bytes scanned since the last ``begin()`` hold, the ending byte's included.
    var lineFeeds: Int { get }

    /// How many of them stand before the first visible byte of the record.
    var leadingLineFeeds: Int { get }

    /// Gets ready for the next record.
    mutating func begin()
}

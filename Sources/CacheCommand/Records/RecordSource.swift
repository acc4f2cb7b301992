/// A stream of records; memory stays flat however long it is.
protocol RecordSource {
    /// Returns the next record, or why the one at that place cannot be taken; `nil` at the end.
    ///
    /// - Parameter reads: whether the input may be read, which may block; else `nil` as well where that would be needed.
    /// - Throws: ``SourceError`` if there is no way to go on after this.
    mutating func next(reads: Bool) throws(SourceError) -> RecordOutcome?

    /// Whether every value is text, even where it stands for a number or a Boolean.
    var valuesAreText: Bool { get }

    /// How many bytes the records given so far took.
    var bytesConsumed: Int { get }
}

extension RecordSource {
    mutating func next() throws(SourceError) -> RecordOutcome? { try next(reads: true) }
}

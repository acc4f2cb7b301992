/// A place in a property list.
public struct PropertyListPosition: Hashable, Sendable, CustomStringConvertible {
    /// Bytes before the place, of the input or, for text in another encoding than UTF-8, of its UTF-8.
    public let offset: Int
    /// The line of text, counted from 1; 0 in the binary format.
    public let line: Int
    /// The byte of the line's UTF-8, counted from 1; 0 in the binary format.
    public let column: Int

    /// The line and column, or the offset in the binary format.
    public var description: String { line == 0 ? "offset \(offset)" : "line \(line), column \(column)" }
}

/// A place in a property list.
///
/// In text, `line` and `column` count from 1; a column is a byte of the line's UTF-8. In the binary format both are 0.
public struct PropertyListPosition: Hashable, Sendable, CustomStringConvertible {
    /// Bytes before the place, of the input or, for text in another encoding than UTF-8, of its UTF-8.
    public let offset: Int
    public let line: Int
    public let column: Int

    public var description: String { line == 0 ? "offset \(offset)" : "line \(line), column \(column)" }
}

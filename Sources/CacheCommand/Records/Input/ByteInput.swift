/// Bytes that arrive in pieces.
protocol ByteInput {
    /// Fills the beginning of `buffer`, which is not empty, and returns how many bytes; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int

    /// How many bytes there are in all, or `nil` if that is not known yet.
    var size: Int? { get }
}

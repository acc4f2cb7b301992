/// The text of one record within a reader's window.
struct Frame: Equatable {
    /// Its place in the window's bytes; void after the next frame is asked for. Empty if `isTooLong`.
    let range: Range<Int>
    /// The line on which it begins.
    let line: Int
    /// The byte that ended it; `nil` if the input ended first.
    let terminator: UInt8?
    /// Whether it had more bytes than the limit, which then were skipped.
    let isTooLong: Bool
}

/// Cuts an input into the texts of its records, one at a time.
struct FrameReader<Scanner: FrameScanner> {
    private(set) var window: ByteWindow
    var scanner: Scanner
    /// The line on which the next frame begins, from 1.
    private(set) var line = 1
    private let limit: Int
    /// How many bytes of the window the last frame holds, its terminator included.
    private var taken = 0
    private var isAtEnd = false

    init(_ window: ByteWindow, scanner: Scanner, limit: Int) {
        self.window = window
        self.scanner = scanner
        self.limit = limit
    }

    var bytesConsumed: Int { window.consumed + taken }

    /// Whether a frame was not given because the input would have had to be read.
    private(set) var isShort = false

    /// The text of the next record; `nil` at the end, where an empty rest is not a record.
    ///
    /// - Parameter reads: whether the input may be read; else `nil` as well, and ``isShort``, where it would have to be.
    mutating func next(reads: Bool = true) throws(SourceError) -> Frame? {
        isShort = false
        guard !isAtEnd else { return nil }
        window.drop(taken)
        taken = 0
        scanner.begin()
        var scanned = 0
        var isTooLong = false
        while true {
            if let end = scan(from: window.start + scanned) {
                return frame(to: end, terminator: window.bytes[end], isTooLong: isTooLong)
            }
            scanned = window.end - window.start
            if scanned > limit {
                isTooLong = true
                window.drop(scanned)
                scanned = 0
            }
            // The first bytes of a record that is too long have left the window already.
            guard reads || isTooLong else {
                isShort = true
                return nil
            }
            guard try window.fill() else { break }
        }
        isAtEnd = true
        guard window.end > window.start || isTooLong else { return nil }
        return frame(to: window.end, terminator: nil, isTooLong: isTooLong)
    }

    private mutating func scan(from index: Int) -> Int? {
        // The bytes have a second owner only here: when the window fills, they must have one.
        // A slice, since on Apple platforms an array's own span needs later systems.
        let bytes = window.bytes[...]
        return scanner.end(in: bytes.span, from: index, to: window.end)
    }

    private mutating func frame(to end: Int, terminator: UInt8?, isTooLong: Bool) -> Frame {
        let start = window.start
        taken = end - start + (terminator == nil ? 0 : 1)
        let tooLong = isTooLong || end - start > limit
        defer { line += scanner.lineFeeds }
        return Frame(
            range: tooLong ? start..<start : start..<end,
            line: line + scanner.leadingLineFeeds,
            terminator: terminator,
            isTooLong: tooLong
        )
    }
}

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

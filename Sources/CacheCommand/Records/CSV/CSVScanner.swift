/// Finds the line feeds that end CSV records: those that stand in no quoted field.
///
/// A quote opens a field only at its beginning, so that a stray one costs its own record and not the rest.
struct CSVScanner: FrameScanner {
    private enum Place {
        case fieldStart
        case unquoted
        case quoted
        /// Behind a quote in a quoted field: the field ends here, or the quote was the first of two.
        case behindQuote
    }

    private var place = Place.fieldStart
    private(set) var lineFeeds = 0
    var leadingLineFeeds: Int { 0 }

    mutating func begin() {
        place = .fieldStart
        lineFeeds = 0
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") {
                lineFeeds += 1
                if place != .quoted { return position }
            } else {
                pass(byte)
            }
            position &+= 1
        }
        return nil
    }

    private mutating func pass(_ byte: UInt8) {
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .behindQuote
        case (.quoted, _): break
        case (.fieldStart, UInt8(ascii: "\"")), (.behindQuote, UInt8(ascii: "\"")): place = .quoted
        case (_, UInt8(ascii: ",")): place = .fieldStart
        default: place = .unquoted
        }
    }
}

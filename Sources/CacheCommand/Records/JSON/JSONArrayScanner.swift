/// Finds the commas and brackets between the elements of one JSON array.
///
/// It counts brackets of both kinds alike and knows strings, nothing else: the parser decides whether an element is
/// JSON, and a broken one then costs no more than itself.
struct JSONArrayScanner: FrameScanner {
    enum Place {
        /// Before the array: a frame ends at the first visible byte.
        case before
        /// Between the array's brackets: a frame ends at a comma or at the closing bracket.
        case inside
        /// Behind the array: a frame ends at the first visible byte.
        case after
    }

    var place = Place.before
    private(set) var lineFeeds = 0
    private(set) var leadingLineFeeds = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false

    mutating func begin() {
        lineFeeds = 0
        leadingLineFeeds = 0
        depth = 0
        isInString = false
        isEscaped = false
        hasBegun = false
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") {
                lineFeeds += 1
                if !hasBegun { leadingLineFeeds += 1 }
                isEscaped = false
            } else if !hasBegun && !JSONParser.isSpace(byte) {
                hasBegun = true
                if place != .inside { return position }
            }
            if isInString {
                passInString(byte)
            } else if ends(byte) {
                return position
            }
            position &+= 1
        }
        return nil
    }

    private mutating func passInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
    }

    private mutating func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
        case UInt8(ascii: "}"):
            depth = max(0, depth - 1)
        case UInt8(ascii: "]"):
            if depth == 0 { return true }
            depth -= 1
        case UInt8(ascii: ","):
            return depth == 0
        default:
            break
        }
        return false
    }
}

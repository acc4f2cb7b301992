/// Every line is a record.
struct LineScanner: FrameScanner {
    private(set) var lineFeeds = 0
    var leadingLineFeeds: Int { 0 }

    mutating func begin() {
        lineFeeds = 0
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            if bytes[position] == UInt8(ascii: "\n") {
                lineFeeds = 1
                return position
            }
            position &+= 1
        }
        return nil
    }
}

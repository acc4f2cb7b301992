/// Every line is a record; or every text that ends in another `terminator`, which then counts as a line.
struct LineScanner: FrameScanner {
    var terminator = UInt8(ascii: "\n")
    private(set) var lineFeeds = 0
    var leadingLineFeeds: Int { 0 }

    mutating func begin() {
        lineFeeds = 0
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            if bytes[position] == terminator {
                lineFeeds = 1
                return position
            }
            position &+= 1
        }
        return nil
    }
}

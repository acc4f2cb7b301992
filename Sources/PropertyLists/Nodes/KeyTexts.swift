/// Where the texts of keys lie that came lately, so that equal keys share one.
struct KeyTexts {
    /// By hash: the first byte and the count.
    private var known: [(start: UInt64, count: Int)] = Array(repeating: (0, 0), count: 256)

    /// A number that is the same for equal texts.
    @inline(__always)
    static func hash(_ text: ByteView) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: text.count)
        if text.count >= 8 {
            hash = (hash ^ text.word(at: 0)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= text.word(at: text.count &- 8)
        } else {
            for byte in text { hash = hash << 8 | UInt64(byte) }
        }
        return hash &* 0x9E37_79B9_7F4A_7C15
    }

    /// The place of a text with the hash `hash`; `nil` if it did not come lately.
    @inline(__always)
    func place(of text: ByteView, _ hash: UInt64, in bytes: borrowing ByteOutput) -> UInt64? {
        let last = known[Int(truncatingIfNeeded: hash >> 56)]
        guard last.count == text.count,
            bytes.part(Int(last.start)..<Int(last.start) &+ last.count).isEqual(to: text)
        else { return nil }
        return last.start
    }

    @inline(__always)
    mutating func keep(_ start: UInt64, _ count: Int, _ hash: UInt64) {
        known[Int(truncatingIfNeeded: hash >> 56)] = (start, count)
    }
}

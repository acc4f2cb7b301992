/// Where the texts of keys lie that came lately, so that equal keys share one.
struct KeyTexts {
    /// By hash: the first byte and the count.
    private var known: [(start: UInt64, count: Int)] = Array(repeating: (0, 0), count: 256)

    /// A number that is the same for equal texts.
    @inline(__always)
    static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = UnsafeRawBufferPointer(text)
        var hash = UInt64(truncatingIfNeeded: text.count)
        if text.count >= 8 {
            hash = (hash ^ raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= raw.loadUnaligned(fromByteOffset: text.count &- 8, as: UInt64.self)
        } else {
            for byte in text { hash = hash << 8 | UInt64(byte) }
        }
        return hash &* 0x9E37_79B9_7F4A_7C15
    }

    /// The place of a text with the hash `hash`; `nil` if it did not come lately.
    @inline(__always)
    func place(of text: UnsafeBufferPointer<UInt8>, _ hash: UInt64, in bytes: borrowing ByteOutput) -> UInt64? {
        let last = known[Int(truncatingIfNeeded: hash >> 56)]
        guard last.count == text.count, bytes.holds(text, in: Int(last.start)..<Int(last.start) &+ last.count)
        else { return nil }
        return last.start
    }

    @inline(__always)
    mutating func keep(_ start: UInt64, _ count: Int, _ hash: UInt64) {
        known[Int(truncatingIfNeeded: hash >> 56)] = (start, count)
    }
}

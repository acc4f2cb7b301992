/// The part of an input that is being looked at: bytes come in at its end and leave at its start.
struct ByteWindow {
    static let chunk = 256 << 10

    private var input: any ByteInput
    /// Its count is the room there is; the window is `start..<end` of it.
    private(set) var bytes: [UInt8]
    private(set) var start = 0
    private(set) var end = 0
    /// How many bytes have left.
    private(set) var consumed = 0

    init(_ input: any ByteInput) {
        self.input = input
        bytes = [UInt8](repeating: 0, count: Self.chunk)
    }

    /// Reads more bytes; `false` if there are none. Indices into ``bytes`` are void after this.
    mutating func fill() throws(SourceError) -> Bool {
        makeRoom()
        var count = 0
        do {
            count = try bytes.withUnsafeMutableBytes { [end] in
                try input.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[end...]))
            }
        } catch let error as SourceError {
            throw error
        } catch {
            preconditionFailure("an input throws nothing else")
        }
        end += count
        return count > 0
    }

    /// Lets the first `count` bytes go.
    mutating func drop(_ count: Int) {
        precondition(count <= end - start, "more bytes dropped than there are")
        start += count
        consumed += count
    }

    /// Skips the three bytes that some programs put before UTF-8 text.
    mutating func skipByteOrderMark() throws(SourceError) {
        while end - start < 3, try fill() {}
        if end - start >= 3, bytes[start] == 0xEF, bytes[start + 1] == 0xBB, bytes[start + 2] == 0xBF {
            drop(3)
        }
    }

    /// The first two bytes, left in place; fewer if the input ends before.
    mutating func firstTwoBytes() throws(SourceError) -> [UInt8] {
        while end - start < 2, try fill() {}
        return Array(bytes[start..<min(start + 2, end)])
    }

    /// The first byte that is no white space, left in place; `nil` if there is none within one chunk.
    mutating func firstVisibleByte() throws(SourceError) -> UInt8? {
        var seen = 0
        while true {
            while seen < end - start {
                let byte = bytes[start + seen]
                if !JSONParser.isSpace(byte) { return byte }
                seen += 1
            }
            guard seen < Self.chunk, try fill() else { return nil }
        }
    }

    /// Moves the window's bytes to the front if there is no room after them; doubles the room if they fill all of it.
    private mutating func makeRoom() {
        if start == end {
            start = 0
            end = 0
        } else if end == bytes.count, start > 0 {
            bytes.withUnsafeMutableBytes { [start, end] in
                $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end]))
            }
            end -= start
            start = 0
        }
        if end == bytes.count {
            bytes.append(contentsOf: repeatElement(0, count: bytes.count))
        }
    }
}

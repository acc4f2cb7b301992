extension BinaryPropertyList {
    @inline(__always)
    func isString(_ reference: Reference, _ text: StaticString) throws(ArchiveError) -> Bool {
        // A static string's bytes stay where they are as long as the process lives.
        try isString(reference, UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    // Named apart, so that literals are static strings above.
    func isString(_ reference: Reference, equalTo text: String) throws(ArchiveError) -> Bool {
        var text = text
        let outcome: Result<Bool, ArchiveError> = text.withUTF8 { utf8 in
            Result { () throws(ArchiveError) in try isString(reference, utf8) }
        }
        return try outcome.get()
    }

    /// How many characters a string has; `nil` for an object of another kind.
    @inline(__always)
    func length(of reference: Reference) throws(ArchiveError) -> Int? {
        let offset = try offset(of: reference)
        switch bytes[offset] >> 4 {
        case 0x5: return try run(offset, unit: 1).count
        case 0x6: return try run(offset, unit: 2).count / 2
        default: return nil
        }
    }

    /// Whether an object is the string with the UTF-8 bytes `text`.
    @inline(__always)
    func isString(_ reference: Reference, _ text: UnsafeBufferPointer<UInt8>) throws(ArchiveError) -> Bool {
        let offset = try offset(of: reference)
        let marker = bytes[offset]
        // Most keys are short ASCII: their length stands in the marker.
        if marker & 0xF0 == 0x50, marker != 0x5F {
            let count = Int(marker & 0x0F)
            return count == text.count && offset &+ 1 &+ count <= table && bytes.hold(text, at: offset &+ 1)
        }
        // Others of up to 255 characters have their number in one byte.
        if marker == 0x5F, offset &+ 3 &+ text.count <= table, bytes[offset &+ 1] == 0x10,
            Int(bytes[offset &+ 2]) == text.count
        {
            return bytes.hold(text, at: offset &+ 3)
        }
        // An object with keys, most of those that are compared with the text that stands for nil.
        if marker & 0xF0 == 0xD0 { return false }
        return try isOtherString(offset, text)
    }

    private func isOtherString(
        _ offset: Int,
        _ text: UnsafeBufferPointer<UInt8>
    ) throws(ArchiveError) -> Bool {
        switch bytes[offset] >> 4 {
        case 0x5:
            let range = try run(offset, unit: 1)
            return range.count == text.count && bytes.hold(text, at: range.lowerBound)
        case 0x6:
            let range = try run(offset, unit: 2)
            // A unit takes one to three bytes of UTF-8. Without this, each look-up would decode every key of the dictionary, however long.
            guard range.count / 2 <= text.count, text.count <= range.count / 2 * 3 else { return false }
            return isText(utf16: range, text)
        default: return false
        }
    }

    /// Whether UTF-16 is a text; not if it is invalid.
    private func isText(utf16 range: Range<Int>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let starts = stride(from: range.lowerBound, to: range.upperBound, by: 2)
        var units = starts.lazy.map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }.makeIterator()
        var decoder = UTF16()
        var rest = text[...]
        while true {
            switch decoder.decode(&units) {
            case .scalarValue(let scalar):
                guard let utf8 = UTF8.encode(scalar), rest.starts(with: utf8) else { return false }
                rest = rest.dropFirst(utf8.count)
            case .emptyInput: return rest.isEmpty
            case .error: return false
            }
        }
    }

    /// Whether one of a dictionary's keys is surely `key`. `false` leaves the question open: the key is another one, or
    /// long, or no ASCII, or damaged, and a search must decide.
    ///
    /// - Precondition: `index` is below the dictionary's count.
    @inline(__always)
    func isKey(_ key: String, at index: Int, of fields: Fields) -> Bool { isKey(key, self.key(fields, index)) }

    /// Whether an object is surely the string `key`, which does not begin with `$`. `false` leaves the question open.
    @inline(__always)
    func isKey(_ key: String, _ reference: Reference) -> Bool {
        guard let offset = knownOffset(of: reference) else { return false }
        let marker = bytes[offset]
        var start = offset &+ 1
        var count = Int(marker & 0x0F)
        guard marker & 0xF0 == 0x50 else { return false }
        if count == 15 {
            // Up to 255 characters: their number stands in one byte.
            guard offset &+ 2 < table, bytes[offset &+ 1] == 0x10 else { return false }
            start = offset &+ 3
            count = Int(bytes[offset &+ 2])
        }
        guard start &+ count <= table else { return false }
        return key.utf8.withContiguousStorageIfAvailable { utf8 in
            // A `$` in front is stored as two.
            utf8.count == count && bytes.hold(utf8, at: start) && (count == 0 || utf8[0] != 0x24)
        } ?? false
    }

    /// The value of a key, or `nil`.
    func value(of key: StaticString, in fields: Fields) throws(ArchiveError) -> Reference? {
        for position in 0..<fields.count where try isString(self.key(fields, position), key) {
            return value(fields, position)
        }
        return nil
    }

    /// The heads of a dictionary's keys; those that may hold any key for a large one, and one with unusual keys.
    func heads(of fields: Fields) -> KeyHeads {
        var heads = KeyHeads()
        if fields.count > KeyHeads.mostKeys { return .any }
        for index in 0..<fields.count {
            guard let offset = knownOffset(of: key(fields, index)) else { return .any }
            let head = bytes.bigEndian(offset, 8)
            guard KeyPattern.isShortASCII(head) else { return .any }
            heads.insert(length: Int(head &>> 56) & 0x0F, first: UInt8(truncatingIfNeeded: head &>> 48))
        }
        return heads
    }

    /// The outcome of a search that takes no look at unusual keys.
    enum SearchOutcome {
        case found(Int)
        case absent
        /// Some key is long, no ASCII, or damaged: ``position(of:in:from:steps:)`` must decide.
        case open
    }

    /// Looks for a key among those of a dictionary, from `start` on and then from the first key on.
    func search(for key: UnsafeBufferPointer<UInt8>, in fields: Fields, from start: Int) -> SearchOutcome {
        if key.count >= 15 { return .open }
        let pattern = KeyPattern(key)
        var position = start
        var isOpen = false
        for _ in 0..<fields.count {
            if position >= fields.count { position = 0 }
            guard let offset = knownOffset(of: self.key(fields, position)) else { return .open }
            let head = bytes.bigEndian(offset, 8)
            if pattern.matches(head) {
                // The head has the key's length and seven of its bytes.
                let end = offset &+ 1 &+ key.count
                if end <= table, key.count <= 7 || bytes.hold(key, at: offset &+ 1) {
                    return isOpen ? .open : .found(position)
                }
            } else if !KeyPattern.isShortASCII(head) {
                isOpen = true
            }
            position &+= 1
        }
        return isOpen ? .open : .absent
    }

    /// The position of a key in a dictionary, looked for from `start` on and then from the first key on.
    ///
    /// - Parameter steps: how many keys are looked at; at most all of them.
    func position(
        of key: UnsafeBufferPointer<UInt8>,
        in fields: Fields,
        from start: Int,
        steps: Int
    ) throws(ArchiveError) -> Int? {
        let pattern = KeyPattern(key)
        var position = start
        for _ in 0..<steps {
            if position >= fields.count { position = 0 }
            let reference = self.key(fields, position)
            let offset = try offset(of: reference)
            let head = bytes.bigEndian(offset, 8)
            if pattern.matches(head) {
                if try isString(reference, key) { return position }
            } else if !KeyPattern.isShortASCII(head) {
                if try isOtherString(offset, key) { return position }
            }
            position += 1
        }
        return nil
    }

    func string(ascii range: Range<Int>) throws(ArchiveError) -> String {
        let text = bytes.withBytes(in: range) { run -> String? in
            // Decoding checks too, but would put another character in the place of wrong bytes.
            isASCII(run) ? String(decoding: run, as: UTF8.self) : String(validating: run, as: UTF8.self)
        }
        // Bytes above 0x7F are not ASCII, but some writers put UTF-8 there; anything else is corrupt.
        guard let text else {
            throw ArchiveError(.corrupted, "string that is not text", offset: range.lowerBound)
        }
        return text
    }

    func string(utf16 range: Range<Int>) throws(ArchiveError) -> String {
        var units: [UInt16] = []
        units.reserveCapacity(range.count / 2)
        var hasSurrogates = false
        for at in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let unit = UInt16(bytes[at]) << 8 | UInt16(bytes[at + 1])
            hasSurrogates = hasSurrogates || unit & 0xF800 == 0xD800
            units.append(unit)
        }
        if !hasSurrogates { return String(decoding: units, as: UTF16.self) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw ArchiveError(.corrupted, "string with invalid UTF-16", offset: range.lowerBound)
        }
        return text
    }

    /// The string that an object is, or `nil` if it is something else.
    func string(_ reference: Reference) throws(ArchiveError) -> String? {
        try text(reference).map { text throws(ArchiveError) in try string(text) }
    }

    /// The string that an object is, or `nil` if it is something else or not below `length` bytes.
    func shortString(_ reference: Reference, below length: Int) throws(ArchiveError) -> String? {
        try shortText(reference, below: length).map { text throws(ArchiveError) in try string(text) }
    }

    // MARK: Short texts

    /// The eight bytes that an object begins with, if it is surely a text of up to 14 ASCII characters, which begins with
    /// its marker; `nil` leaves the question open.
    @inline(__always)
    func headOfShortASCII(_ reference: Reference) -> UInt64? {
        guard let offset = knownOffset(of: reference) else { return nil }
        let head = bytes.bigEndian(offset, 8)
        return KeyPattern.isShortASCII(head) && isShortASCII(head: head, at: offset) ? head : nil
    }

    /// Whether the text with its length in its marker is all there, and ASCII.
    @inline(__always)
    func isShortASCII(head: UInt64, at offset: Int) -> Bool {
        let count = Self.byteCount(ofHead: head)
        guard offset &+ 1 &+ count <= table else { return false }
        // Its bytes from the highest on, followed by those of later objects.
        let shown = min(count, 7)
        var high = head &<< 8 & ~(.max &>> UInt64(8 &* shown))
        if count > 7 { high |= bytes.bigEndian(offset &+ 8, 8) & ~(.max &>> UInt64(8 &* (count &- 7))) }
        return high & 0x8080_8080_8080_8080 == 0
    }

    /// How many bytes the short text with this head has.
    @inline(__always)
    static func byteCount(ofHead head: UInt64) -> Int { Int(truncatingIfNeeded: head &>> 56) & 0x0F }

    /// Whether a short text is `$class`.
    @inline(__always)
    static func isClassKey(head: UInt64) -> Bool { head &>> 8 == 0x56_24_63_6C_61_73_73 }

    /// Whether an object is surely the text `text`, of up to 14 ASCII characters; `false` leaves the question open.
    func isShortASCII(_ reference: Reference, _ text: StaticString) -> Bool {
        guard let offset = knownOffset(of: reference), bytes[offset] == 0x50 | UInt8(text.utf8CodeUnitCount),
            offset &+ 1 &+ text.utf8CodeUnitCount <= table
        else { return false }
        // A static string's bytes stay where they are as long as the process lives.
        let utf8 = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return bytes.hold(utf8, at: offset &+ 1)
    }

    // MARK: Text where it lies

    /// A string's bytes, unchecked.
    enum Text {
        case ascii(Range<Int>)
        case utf16(Range<Int>)
    }

    /// The text that an object is, or `nil` if it is something else.
    func text(_ reference: Reference) throws(ArchiveError) -> Text? {
        switch try object(reference) {
        case .ascii(let range): .ascii(range)
        case .utf16(let range): .utf16(range)
        default: nil
        }
    }

    /// The text that an object is, or `nil` if it is something else or not below `length` bytes.
    func shortText(_ reference: Reference, below length: Int) throws(ArchiveError) -> Text? {
        switch try text(reference) {
        case .ascii(let range)? where range.count < length: .ascii(range)
        case .utf16(let range)? where range.count < 2 * length: .utf16(range)
        default: nil
        }
    }

    func string(_ text: Text) throws(ArchiveError) -> String {
        switch text {
        case .ascii(let range): try string(ascii: range)
        case .utf16(let range): try string(utf16: range)
        }
    }

    /// How many bytes of UTF-8 a text has.
    ///
    /// - Throws: as making a string of it.
    func byteCount(of text: Text) throws(ArchiveError) -> Int {
        switch text {
        case .ascii(let range):
            if !bytes.withBytes(in: range, isASCII) { _ = try string(ascii: range) }
            return range.count
        case .utf16(let range):
            var count = 0
            for at in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
                let unit = bytes.bigEndian(at, 2)
                if unit & 0xF800 == 0xD800 { return try string(utf16: range).utf8.count }
                count += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
            }
            return count
        }
    }
}

/// The eight bytes that stand at the place of the key that is looked for: comparing them once rules out nearly all
/// other keys.
private struct KeyPattern {
    private let head: UInt64
    private let mask: UInt64

    init(_ key: UnsafeBufferPointer<UInt8>) {
        // Longer ones have their length elsewhere, and are compared one by one.
        let isShort = key.count < 15
        var head: UInt64 = isShort ? 0x50 | UInt64(key.count) : 0xFF
        let shown = isShort ? min(key.count, 7) : 0
        for byte in key.prefix(shown) { head = head << 8 | UInt64(byte) }
        let unused = UInt64(56 - 8 * shown)
        self.head = head << unused
        mask = UInt64.max << unused
    }

    @inline(__always)
    func matches(_ bytes: UInt64) -> Bool { (bytes ^ head) & mask == 0 }

    /// Whether the bytes are those of an ASCII string with its length in its marker.
    @inline(__always)
    static func isShortASCII(_ bytes: UInt64) -> Bool {
        let marker = bytes &>> 56
        return marker & 0xF0 == 0x50 && marker != 0x5F
    }
}

/// A set of keys' lengths and first bytes, which rules out most keys that are not there.
///
/// Optional fields are asked for in every object and are in few of them.
struct KeyHeads: BitwiseCopyable {
    static let mostKeys = 32
    static let any = KeyHeads(bits: .max)

    private var bits: UInt64 = 0

    init() {}
    private init(bits: UInt64) { self.bits = bits }

    mutating func insert(length: Int, first: UInt8) { bits |= Self.bit(length, first) }

    /// Whether a key as the user gave it may be among them.
    @inline(__always)
    func mayHold(_ key: String) -> Bool {
        let utf8 = key.utf8
        // Stored with one `$` more.
        guard let first = utf8.first, first != 0x24 else { return true }
        return utf8.count >= 15 || bits & Self.bit(utf8.count, first) != 0
    }

    @inline(__always)
    private static func bit(_ length: Int, _ first: UInt8) -> UInt64 {
        1 &<< (UInt64(truncatingIfNeeded: length) &* 29 &+ UInt64(first) &* 7)
    }
}

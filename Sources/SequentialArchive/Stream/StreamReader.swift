import Foundation
import KeyedArchive

/// Reads the smallest parts of a typed stream: bytes, integers, shared strings and the types of groups.
///
///     04  0B "streamtyped"  81 E8 03          streamer version 4, little-endian, system version 1000
///     84 01 "@"                               a group of one object: type string 0 of the table of shared strings
///        84                                   a new object, number 0 of the table of objects
///           84 84 08 "NSString" 01            its class, number 1: name, version 1
///              84 84 08 "NSObject" 00 85      the class above it, number 2, which has none above it
///           84 01 "+"                         a group of bytes
///              05 "hello"
///        86                                   the end of the object
final class StreamReader {
    let bytes: [UInt8]
    let byteOrder: TypedStream.ByteOrder
    let systemVersion: Int
    // Unchecked exclusivity: a reader is used from one thread, and calls out to no one.
    @exclusivity(unchecked) var position = 0
    /// The shared strings in the order of their numbers.
    @exclusivity(unchecked) private var strings: [SharedString] = []
    /// The number of the next new shared string: less than the count where a part of the stream is read again.
    @exclusivity(unchecked) var nextString = 0
    @exclusivity(unchecked) private var budget: Int

    private struct SharedString {
        let bytes: [UInt8]
        var types: [ValueType]?
        /// The type, if the string is one of a single letter.
        let type: ValueType?
        var text: String?
        var data: Data?
        /// Whether there is no zero inside.
        let isCString: Bool

        init(bytes: [UInt8]) {
            self.bytes = bytes
            isCString = !bytes.contains(0)
            type = bytes.count == 1 ? ValueType(letter: bytes[0]) : nil
        }
    }

    /// Reads the header.
    ///
    /// - Throws: `.unknownFormat` if the bytes are not a typed stream, `.unsupportedFormat` for another version of the
    ///   format, `.limitExceeded` if there are more bytes than the limits allow.
    init(_ bytes: [UInt8], limits: ArchiveLimits) throws(ArchiveError) {
        guard bytes.count <= limits.byteCount else {
            throw ArchiveError(.limitExceeded, "an archive of more than \(limits.byteCount) bytes")
        }
        let signature = bytes.dropFirst(2).prefix(11)
        guard bytes.count >= 13, bytes[1] == 11,
            signature.elementsEqual(StreamTag.littleEndianSignature)
                || signature.elementsEqual(StreamTag.bigEndianSignature)
        else {
            let isKeyed = bytes.starts(with: "bplist".utf8) || bytes.starts(with: "<?xml".utf8)
            throw ArchiveError(
                .unknownFormat,
                isKeyed
                    ? "a property list and no typed stream: read it with KeyedUnarchiver"
                    : "no typed stream, as NSArchiver writes them",
                offset: 0
            )
        }
        guard bytes[0] == StreamTag.streamerVersion else {
            throw ArchiveError(
                .unsupportedFormat,
                "a typed stream of version \(bytes[0]); only version 4 is read",
                offset: 0
            )
        }
        self.bytes = bytes
        byteOrder = signature.elementsEqual(StreamTag.littleEndianSignature) ? .little : .big
        budget = limits.references(in: bytes.count)
        var header = IntegerScanner(bytes: bytes, byteOrder: byteOrder, position: 13)
        systemVersion = Int(try header.integer())
        guard systemVersion >= 0 else {
            throw ArchiveError(.corrupted, "a system version below zero", offset: 13)
        }
        position = header.position
    }

    var isAtEnd: Bool { position == bytes.count }
    var remaining: Int { bytes.count - position }

    func corrupted(_ message: String, at offset: Int? = nil) -> ArchiveError {
        ArchiveError(.corrupted, message, offset: offset ?? position)
    }

    /// Counts work that takes no bytes of the stream.
    ///
    /// - Throws: `.limitExceeded`.
    func spend(_ count: Int) throws(ArchiveError) {
        let (rest, overflow) = budget.subtractingReportingOverflow(count)
        budget = rest
        if overflow || rest < 0 {
            throw ArchiveError(
                .limitExceeded,
                "the archive holds far more than its size can justify",
                offset: position
            )
        }
    }

    /// Checks how many classes are above a class: programs ask for the versions of all of them, again and again.
    ///
    /// - Throws: `.limitExceeded`.
    func checkClassDepth(_ depth: Int) throws(ArchiveError) {
        guard depth <= Self.classDepthLimit else {
            throw ArchiveError(
                .limitExceeded,
                "a class with more than \(Self.classDepthLimit) above it",
                offset: position
            )
        }
    }

    private static let classDepthLimit = 256

    // MARK: Bytes and integers

    func peek() throws(ArchiveError) -> UInt8 {
        guard position < bytes.count else { throw truncated(1) }
        return bytes[position]
    }

    @inline(__always)
    func byte() throws(ArchiveError) -> UInt8 {
        guard position < bytes.count else { throw truncated(1) }
        defer { position += 1 }
        return bytes[position]
    }

    @inline(never)
    private func truncated(_ count: Int) -> ArchiveError {
        corrupted("the archive ends where \(count == 1 ? "a byte" : "\(count) bytes") should follow")
    }

    /// The next bytes.
    func raw(_ count: Int) throws(ArchiveError) -> Range<Int> {
        guard count <= remaining else { throw truncated(count) }
        defer { position += count }
        return position..<position + count
    }

    /// The text of bytes in UTF-8; `nil` if they are not valid.
    ///
    /// Validation takes several times as long as a look at eight bytes at a time, which nearly every text passes.
    func text(in range: Range<Int>) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            let text = UnsafeBufferPointer(rebasing: bytes[range])
            return isASCII(text)
                ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
        }
    }

    @inline(__always)
    func integer() throws(ArchiveError) -> Int64 {
        if position < bytes.count, !StreamTag.all.contains(bytes[position]) {
            defer { position += 1 }
            return Int64(Int8(bitPattern: bytes[position]))
        }
        return try taggedInteger()
    }

    @inline(never)
    private func taggedInteger() throws(ArchiveError) -> Int64 {
        var scanner = IntegerScanner(bytes: bytes, byteOrder: byteOrder, position: position)
        let value = try scanner.integer()
        position = scanner.position
        return value
    }

    /// An integer of a type.
    func integer(_ type: IntegerType) throws(ArchiveError) -> StoredInteger {
        let start = position
        if type.isRaw {
            let byte = try byte()
            return .signed(type == .int8 ? Int64(Int8(bitPattern: byte)) : Int64(byte))
        }
        guard let value = type.value(stored: try integer()) else {
            throw corrupted("an integer that its type does not hold", at: start)
        }
        return value
    }

    /// A count or length, which nothing in the rest of the stream can exceed.
    func count() throws(ArchiveError) -> Int {
        let start = position
        let value = try integer()
        guard value >= 0, value <= remaining else {
            throw corrupted("a length of \(value), where \(remaining) bytes are left", at: start)
        }
        return Int(value)
    }

    /// The bit pattern after a tag for reals.
    func bits<T: FixedWidthInteger>(_ type: T.Type) throws(ArchiveError) -> T {
        var scanner = IntegerScanner(bytes: bytes, byteOrder: byteOrder, position: position)
        let value: T = try scanner.fixed()
        position = scanner.position
        return value
    }

    // MARK: References

    /// The entry that an integer refers to.
    func reference(below count: Int) throws(ArchiveError) -> Int {
        let start = position
        let stored = try integer()
        // Compared first: the integers of 64 bits leave no room for the subtraction.
        guard stored >= Int64(StreamTag.firstReference), stored < Int64(count + StreamTag.firstReference) else {
            throw corrupted("a reference to an entry beyond the \(count) there are", at: start)
        }
        return Int(stored) - StreamTag.firstReference
    }

    // MARK: Shared strings

    /// The number of a shared string; `nil` for nil.
    @inline(__always)
    func sharedString() throws(ArchiveError) -> Int? {
        if position < bytes.count {
            let head = bytes[position]
            let number = Int(Int8(bitPattern: head)) - StreamTag.firstReference
            if !StreamTag.all.contains(head), number < nextString {
                position += 1
                return number
            }
        }
        return try newSharedString()
    }

    @inline(never)
    private func newSharedString() throws(ArchiveError) -> Int? {
        switch try peek() {
        case StreamTag.null:
            position += 1
            return nil
        case StreamTag.new:
            position += 1
            let count = try count()
            let range = try raw(count)
            if nextString == strings.count { strings.append(SharedString(bytes: Array(bytes[range]))) }
            nextString += 1
            return nextString - 1
        default:
            return try reference(below: nextString)
        }
    }

    func bytes(ofString number: Int) -> [UInt8] { strings[number].bytes }

    /// The bytes of a shared string, in one memory for all references to it.
    func data(ofString number: Int) -> Data {
        if let data = strings[number].data { return data }
        let data = Data(strings[number].bytes)
        strings[number].data = data
        return data
    }

    /// Whether a shared string may be a C string: has no zero inside.
    func isCString(_ number: Int) -> Bool { strings[number].isCString }

    /// The text of a shared string that must be text: the name of a class, or of types.
    func text(ofString number: Int) throws(ArchiveError) -> String {
        if let text = strings[number].text { return text }
        guard let text = String(validating: strings[number].bytes, as: UTF8.self) else {
            throw corrupted("a name that is not text")
        }
        strings[number].text = text
        return text
    }

    /// The type that a shared string names, if it is one of a single letter.
    @inline(__always)
    func type(ofString number: Int) -> ValueType? { strings[number].type }

    /// The types that a shared string names.
    func types(ofString number: Int) throws(ArchiveError) -> [ValueType] {
        if let types = strings[number].types { return types }
        do throws(ArchiveError) {
            let types = try ValueType.list(strings[number].bytes)
            strings[number].types = types
            return types
        } catch {
            throw ArchiveError(error.code, error.message, offset: position)
        }
    }

    /// The number of the types of the next group.
    @inline(__always)
    func group() throws(ArchiveError) -> Int {
        let start = position
        guard let types = try sharedString() else { throw corrupted("a group of values without a type", at: start) }
        return types
    }
}

/// Reads integers with their tags.
private struct IntegerScanner {
    let bytes: [UInt8]
    let byteOrder: TypedStream.ByteOrder
    var position: Int

    mutating func integer() throws(ArchiveError) -> Int64 {
        guard position < bytes.count else {
            throw ArchiveError(.corrupted, "the archive ends where an integer should follow", offset: position)
        }
        let head = bytes[position]
        position += 1
        switch head {
        case StreamTag.int16:
            let value: Int16 = try fixed()
            return Int64(value)
        case StreamTag.int32:
            let value: Int32 = try fixed()
            return Int64(value)
        case StreamTag.int64: return try fixed()
        case StreamTag.all:
            throw ArchiveError(
                .corrupted,
                "the tag \(String(head, radix: 16)), where an integer should follow",
                offset: position - 1
            )
        default: return Int64(Int8(bitPattern: head))
        }
    }

    mutating func fixed<T: FixedWidthInteger>() throws(ArchiveError) -> T {
        let size = T.bitWidth / 8
        guard bytes.count - position >= size else {
            throw ArchiveError(.corrupted, "the archive ends inside a number", offset: position)
        }
        var value: T = 0
        for index in 0..<size {
            let place = byteOrder == .big ? position + index : position + size - 1 - index
            value = value << 8 | T(truncatingIfNeeded: bytes[place])
        }
        position += size
        return value
    }
}

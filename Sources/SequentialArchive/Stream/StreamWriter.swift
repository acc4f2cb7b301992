import Foundation

/// Writes the smallest parts of a typed stream; see `StreamReader` for the bytes.
struct StreamWriter {
    private(set) var bytes: [UInt8] = []
    let byteOrder: TypedStream.ByteOrder
    /// The number of the next new object, class or C string.
    private(set) var nextObject = 0
    private var nextString = 0
    /// The numbers of shared strings of one byte, as nearly all types are; -1 for those that were not written yet.
    private var shortStrings = [Int](repeating: -1, count: 256)
    private var longStrings: [[UInt8]: Int] = [:]

    init(byteOrder: TypedStream.ByteOrder, systemVersion: Int) {
        self.byteOrder = byteOrder
        let signature = byteOrder == .little ? StreamTag.littleEndianSignature : StreamTag.bigEndianSignature
        bytes = [StreamTag.streamerVersion, UInt8(signature.count)] + signature
        write(integer: Int64(systemVersion))
    }

    mutating func write(tag: UInt8) { bytes.append(tag) }

    mutating func write(raw: some Sequence<UInt8>) { bytes.append(contentsOf: raw) }

    @inline(__always)
    mutating func write(integer value: Int64) {
        if value >= -110, value <= 127 {
            bytes.append(UInt8(truncatingIfNeeded: value))
        } else {
            write(tagged: value)
        }
    }

    @inline(never)
    private mutating func write(tagged value: Int64) {
        if let short = Int16(exactly: value) {
            bytes.append(StreamTag.int16)
            write(fixed: short)
        } else if let word = Int32(exactly: value) {
            bytes.append(StreamTag.int32)
            write(fixed: word)
        } else {
            bytes.append(StreamTag.int64)
            write(fixed: value)
        }
    }

    /// Writes an integer that its type holds.
    mutating func write(_ value: StoredInteger, as type: IntegerType) {
        switch value {
        case .signed(let value) where type.isRaw: bytes.append(UInt8(truncatingIfNeeded: value))
        case .signed(let value) where (type == .uint32 || type == .unsignedLong) && value > Int64(Int32.max):
            // Of 4 bytes, as every value of the type is at most.
            bytes.append(StreamTag.int32)
            write(fixed: Int32(truncatingIfNeeded: value))
        case .signed(let value): write(integer: value)
        case .unsigned(let value):
            bytes.append(StreamTag.int64)
            write(fixed: value)
        }
    }

    mutating func write(_ value: Float) {
        if let integer = Int32(exactly: value), !(value == 0 && value.sign == .minus) {
            write(integer: Int64(integer))
        } else {
            write(bitsOf: value)
        }
    }

    mutating func write(_ value: Double) {
        if let integer = Int32(exactly: value), !(value == 0 && value.sign == .minus) {
            write(integer: Int64(integer))
        } else {
            write(bitsOf: value)
        }
    }

    mutating func write(bitsOf value: Float) {
        bytes.append(StreamTag.real)
        write(fixed: value.bitPattern)
    }

    mutating func write(bitsOf value: Double) {
        bytes.append(StreamTag.real)
        write(fixed: value.bitPattern)
    }

    private mutating func write<T: FixedWidthInteger>(fixed value: T) {
        withUnsafeBytes(of: byteOrder == .little ? value.littleEndian : value.bigEndian) {
            bytes.append(contentsOf: $0)
        }
    }

    /// Writes a reference to entry `number` of a table.
    mutating func write(reference number: Int) { write(integer: Int64(number + StreamTag.firstReference)) }

    /// Begins a new object, class or C string and returns its number.
    mutating func beginObject() -> Int {
        bytes.append(StreamTag.new)
        nextObject += 1
        return nextObject - 1
    }

    /// Writes bytes after their length.
    mutating func write(unshared data: some Collection<UInt8>) {
        write(integer: Int64(data.count))
        bytes.append(contentsOf: data)
    }

    // MARK: Shared strings

    /// Writes a shared string of one byte.
    @inline(__always)
    mutating func write(type: UInt8) {
        let known = shortStrings[Int(type)]
        if known >= 0 { return write(reference: known) }
        shortStrings[Int(type)] = newString(CollectionOfOne(type))
    }

    mutating func write(shared string: [UInt8]) {
        if string.count == 1 { return write(type: string[0]) }
        if let known = longStrings[string] { return write(reference: known) }
        longStrings[string] = newString(string)
    }

    mutating func write(shared string: String) { write(shared: Array(string.utf8)) }

    private mutating func newString(_ string: some Collection<UInt8>) -> Int {
        bytes.append(StreamTag.new)
        write(unshared: string)
        nextString += 1
        return nextString - 1
    }
}

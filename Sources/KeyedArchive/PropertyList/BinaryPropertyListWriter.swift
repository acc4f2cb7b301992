// Binary property list, version 0:
//
//     "bplist00"
//     objects         one marker byte each, then the content that it announces:
//                       00 null   08 09 false, true    1n integer of 2^n bytes    22 23 real of 4, 8 bytes
//                       33 date, seconds since 2001 in a real of 8 bytes
//                       4n data   5n ASCII   6n UTF-16BE   8n UID of n+1 bytes
//                       An Cn array, set of n references   Dn n key references, then n value references
//                       n = 15: an integer object with the count follows
//     offset table    one offset per object number
//     trailer         5 zero bytes, sort version, offset size, reference size,
//                     object count, top object, offset table's offset (8 bytes each)
//
// All numbers are big-endian. A reference's size depends on how many objects there will be, so scalars go
// to the output at once and containers, which are nothing but references, are kept back until `finish`.

/// Writes a binary property list, each object as it comes.
struct BinaryPropertyListWriter: ~Copyable {
    /// An object's number in the list.
    typealias Reference = UInt32

    private(set) var bytes = RawBuffer<UInt8>(capacity: 1_024)
    /// Where each object begins; 0 for a container that is still to be written.
    private var offsets = RawBuffer<Int>(capacity: 64)
    /// Containers kept back: number, marker's high half, count, then the references.
    private var containers = RawBuffer<UInt32>(capacity: 128)

    init() { appendHeader() }

    /// Begins anew with the memory that is there.
    mutating func reset() {
        bytes.truncate(to: 0)
        offsets.truncate(to: 0)
        containers.truncate(to: 0)
        appendHeader()
    }

    private mutating func appendHeader() {
        let header: StaticString = "bplist00"
        header.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    // MARK: Scalars

    @inline(__always)
    private mutating func begin() -> Reference {
        offsets.append(bytes.count)
        return Reference(truncatingIfNeeded: offsets.count &- 1)
    }

    mutating func addNull() -> Reference {
        let reference = begin()
        bytes.append(0x00)
        return reference
    }

    mutating func add(_ value: Bool) -> Reference {
        let reference = begin()
        bytes.append(value ? 0x09 : 0x08)
        return reference
    }

    mutating func add(_ value: Int64) -> Reference {
        let reference = begin()
        appendInteger(value)
        return reference
    }

    mutating func add(_ value: UInt64) -> Reference {
        if let signed = Int64(exactly: value) { return add(signed) }
        let reference = begin()
        bytes.append(0x14)
        bytes.append(bigEndian: 0, width: 8)
        bytes.append(bigEndian: value, width: 8)
        return reference
    }

    mutating func add(_ value: Double) -> Reference {
        let reference = begin()
        bytes.append(0x23)
        bytes.append(bigEndian: value.bitPattern, width: 8)
        return reference
    }

    mutating func add(_ value: Float) -> Reference {
        let reference = begin()
        bytes.append(0x22)
        bytes.append(bigEndian: UInt64(value.bitPattern), width: 4)
        return reference
    }

    /// Adds a date, in seconds since 2001.
    mutating func add(date seconds: Double) -> Reference {
        let reference = begin()
        bytes.append(0x33)
        bytes.append(bigEndian: seconds.bitPattern, width: 8)
        return reference
    }

    mutating func add(data: UnsafeRawBufferPointer) -> Reference {
        let reference = begin()
        appendMarker(0x40, count: data.count)
        data.withMemoryRebound(to: UInt8.self) { bytes.append(contentsOf: $0) }
        return reference
    }

    mutating func add(ascii: UnsafeBufferPointer<UInt8>) -> Reference {
        let reference = begin()
        appendMarker(0x50, count: ascii.count)
        bytes.append(text: ascii)
        return reference
    }

    mutating func add(utf16 units: String.UTF16View) -> Reference {
        let reference = begin()
        appendMarker(0x60, count: units.count)
        for unit in units { bytes.append(bigEndian: UInt64(unit), width: 2) }
        return reference
    }

    mutating func add(uid: UInt32) -> Reference {
        let reference = begin()
        let width = uid <= 0xFF ? 1 : uid <= 0xFFFF ? 2 : 4
        bytes.append(0x80 | UInt8(truncatingIfNeeded: width &- 1))
        bytes.append(bigEndian: UInt64(uid), width: width)
        return reference
    }

    // MARK: Containers

    /// Takes an object number for a container that is filled later.
    mutating func reserveContainer() -> Reference {
        offsets.append(0)
        return Reference(truncatingIfNeeded: offsets.count &- 1)
    }

    /// Begins to fill an array; exactly `count` calls of `addElement` follow.
    mutating func fillArray(_ reference: Reference, count: Int) {
        containers.append(reference)
        containers.append(0xA0)
        containers.append(UInt32(count))
    }

    /// Begins to fill a set; exactly `count` calls of `addElement` follow.
    mutating func fillSet(_ reference: Reference, count: Int) {
        containers.append(reference)
        containers.append(0xC0)
        containers.append(UInt32(count))
    }

    mutating func addElement(_ element: Reference) { containers.append(element) }

    /// Fills a dictionary with the pairs from `start` on.
    mutating func fillDictionary(
        _ reference: Reference,
        _ pairs: borrowing RawBuffer<KeyedReference>,
        from start: Int
    ) {
        let count = pairs.count &- start
        containers.append(reference)
        containers.append(0xD0)
        containers.append(UInt32(truncatingIfNeeded: count))
        containers.reserve(2 &* count)
        for index in start..<pairs.count { containers.append(pairs[index].key) }
        for index in start..<pairs.count { containers.append(pairs[index].value) }
    }

    // MARK: The end

    /// Writes the containers that were kept back, the offset table and the trailer.
    mutating func finish(top: Reference) {
        let referenceWidth = Self.width(of: UInt64(max(offsets.count - 1, 0)))
        var at = 0
        while at < containers.count {
            let marker = UInt8(truncatingIfNeeded: containers[at &+ 1])
            let count = Int(containers[at &+ 2])
            offsets[Int(containers[at])] = bytes.count
            appendMarker(marker, count: count)
            at &+= 3
            let end = at &+ (marker == 0xD0 ? 2 &* count : count)
            bytes.append(bigEndian: containers, from: at, to: end, width: referenceWidth)
            at = end
        }
        let table = bytes.count
        let offsetWidth = Self.width(of: UInt64(table))
        // A container that was given up stands for object 0.
        for index in 0..<offsets.count where offsets[index] == 0 { offsets[index] = offsets[0] }
        bytes.append(bigEndian: offsets, from: 0, to: offsets.count, width: offsetWidth)
        bytes.append(bigEndian: UInt64(offsetWidth) << 8 | UInt64(referenceWidth), width: 8)
        bytes.append(bigEndian: UInt64(offsets.count), width: 8)
        bytes.append(bigEndian: UInt64(top), width: 8)
        bytes.append(bigEndian: UInt64(table), width: 8)
    }

    /// Gives the finished list away, in memory that the caller must `free`.
    mutating func take() -> UnsafeMutableBufferPointer<UInt8> { bytes.take() }

    // MARK: Bytes

    /// The fewest bytes, out of 1, 2, 4 and 8, that hold `value`.
    private static func width(of value: UInt64) -> Int {
        value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
    }

    @inline(__always)
    private mutating func appendMarker(_ high: UInt8, count: Int) {
        if count < 15 {
            bytes.append(high | UInt8(truncatingIfNeeded: count))
        } else {
            bytes.append(high | 0x0F)
            appendInteger(Int64(count))
        }
    }

    private mutating func appendInteger(_ value: Int64) {
        // Widths below 8 are read as unsigned, so a negative number takes all 8 bytes.
        let pattern = UInt64(bitPattern: value)
        let width = Self.width(of: pattern)
        bytes.append(0x10 | UInt8(truncatingIfNeeded: width.trailingZeroBitCount))
        bytes.append(bigEndian: pattern, width: width)
    }
}

/// A key and its value in a dictionary that is being written.
struct KeyedReference: BitwiseCopyable {
    var key: BinaryPropertyListWriter.Reference
    var value: BinaryPropertyListWriter.Reference
}

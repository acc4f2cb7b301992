// Binary property list, version 0:
//
//     "bplist00"
//     objects         one marker byte each, then what it announces:
//                       08 09 false, true    1n integer of 2^n bytes    22 23 real of 4, 8 bytes
//                       4n data   5n ASCII   6n UTF-16BE   8n UID of n+1 bytes
//                       An array of n references   Dn n key references, then n value references
//                       n = 15: an integer object with the count follows
//     offset table    one offset per object number
//     trailer         5 zero bytes, sort version, offset size, reference size,
//                     object count, top object, offset table's offset (8 bytes each)
//
// All numbers are big-endian. A reference's size depends on how many objects there will be, so scalars go
// to the output at once and containers, which are nothing but references, are kept back until `finish`.

/// Writes a binary property list, each object as it comes.
struct BinaryPropertyListWriter {
    /// An object's number in the list.
    typealias Reference = UInt32

    private(set) var bytes: [UInt8] = []
    /// Where each object begins; 0 for a container that is still to be written.
    private var offsets: [Int] = []
    /// Containers kept back: number, marker's high half, count, then the references.
    private var containers: [UInt32] = []

    init() {
        bytes.reserveCapacity(512)
        offsets.reserveCapacity(48)
        containers.reserveCapacity(48)
        bytes.append(contentsOf: [0x62, 0x70, 0x6C, 0x69, 0x73, 0x74, 0x30, 0x30])
    }

    var objectCount: Int { offsets.count }

    // MARK: Scalars

    private mutating func begin() -> Reference {
        offsets.append(bytes.count)
        return Reference(truncatingIfNeeded: offsets.count - 1)
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
        append(bigEndian: 0, width: 8)
        append(bigEndian: value, width: 8)
        return reference
    }

    mutating func add(_ value: Double) -> Reference {
        let reference = begin()
        bytes.append(0x23)
        append(bigEndian: value.bitPattern, width: 8)
        return reference
    }

    mutating func add(_ value: Float) -> Reference {
        let reference = begin()
        bytes.append(0x22)
        append(bigEndian: UInt64(value.bitPattern), width: 4)
        return reference
    }

    mutating func add(data: UnsafeRawBufferPointer) -> Reference {
        let reference = begin()
        appendMarker(0x40, count: data.count)
        bytes.append(contentsOf: data)
        return reference
    }

    mutating func add(ascii: UnsafeBufferPointer<UInt8>) -> Reference {
        let reference = begin()
        appendMarker(0x50, count: ascii.count)
        bytes.append(contentsOf: ascii)
        return reference
    }

    mutating func add(utf16 units: String.UTF16View) -> Reference {
        let reference = begin()
        appendMarker(0x60, count: units.count)
        for unit in units { append(bigEndian: UInt64(unit), width: 2) }
        return reference
    }

    mutating func add(uid: UInt32) -> Reference {
        let reference = begin()
        let width = uid <= 0xFF ? 1 : uid <= 0xFFFF ? 2 : 4
        bytes.append(0x80 | UInt8(width - 1))
        append(bigEndian: UInt64(uid), width: width)
        return reference
    }

    // MARK: Containers

    /// Takes an object number for a container that is filled later.
    mutating func reserveContainer() -> Reference {
        offsets.append(0)
        return Reference(truncatingIfNeeded: offsets.count - 1)
    }

    mutating func fillArray(_ reference: Reference, _ elements: some Collection<Reference>) {
        containers.append(reference)
        containers.append(0xA0)
        containers.append(UInt32(elements.count))
        containers.append(contentsOf: elements)
    }

    mutating func fillDictionary(_ reference: Reference, _ pairs: ArraySlice<KeyedReference>) {
        containers.append(reference)
        containers.append(0xD0)
        containers.append(UInt32(pairs.count))
        for pair in pairs { containers.append(pair.key) }
        for pair in pairs { containers.append(pair.value) }
    }

    // MARK: The end

    /// Writes what was kept back, the offset table and the trailer.
    mutating func finish(top: Reference) -> [UInt8] {
        let referenceWidth = Self.width(of: UInt64(max(offsets.count - 1, 0)))
        bytes.reserveCapacity(
            bytes.count + containers.count * referenceWidth + offsets.count * 4 + 64
        )
        var at = 0
        while at < containers.count {
            let marker = UInt8(containers[at + 1])
            let count = Int(containers[at + 2])
            offsets[Int(containers[at])] = bytes.count
            appendMarker(marker, count: count)
            at += 3
            let end = at + (marker == 0xD0 ? 2 * count : count)
            if referenceWidth == 1 {
                while at < end {
                    bytes.append(UInt8(truncatingIfNeeded: containers[at]))
                    at += 1
                }
            } else {
                while at < end {
                    append(bigEndian: UInt64(containers[at]), width: referenceWidth)
                    at += 1
                }
            }
        }
        let table = bytes.count
        let offsetWidth = Self.width(of: UInt64(table))
        for offset in offsets {
            // A container that was given up stands for object 0.
            append(bigEndian: UInt64(offset == 0 ? offsets[0] : offset), width: offsetWidth)
        }
        append(bigEndian: UInt64(offsetWidth) << 8 | UInt64(referenceWidth), width: 8)
        append(bigEndian: UInt64(offsets.count), width: 8)
        append(bigEndian: UInt64(top), width: 8)
        append(bigEndian: UInt64(table), width: 8)
        return bytes
    }

    // MARK: Bytes

    /// The fewest bytes, out of 1, 2, 4 and 8, that hold `value`.
    private static func width(of value: UInt64) -> Int {
        value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
    }

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
        append(bigEndian: pattern, width: width)
    }

    private mutating func append(bigEndian value: UInt64, width: Int) {
        var shift = width &* 8
        while shift > 0 {
            shift &-= 8
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }
}

/// A key and its value in a dictionary that is being written.
struct KeyedReference {
    var key: BinaryPropertyListWriter.Reference
    var value: BinaryPropertyListWriter.Reference
}

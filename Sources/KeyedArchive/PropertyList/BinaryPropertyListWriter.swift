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
// All numbers are big-endian. A reference's size depends on how many objects there will be, so containers, which
// are nothing but references, are kept back until `finish`.
//
// Objects keep the numbers in whose order they are added, but their bytes stand in the order of `Section`: first the
// parts that lists of one kind share, then parts that differ only in their bytes, last parts that differ in their
// length. So two archives of a type begin alike, their offset tables agree up to the lengths that differ, and one is
// compressed well with the other as its dictionary. Readers find objects by the table, in whatever order they stand.

/// Writes a binary property list, each object as it comes.
struct BinaryPropertyListWriter: ~Copyable {
    /// An object's number in the list.
    typealias Reference = UInt32

    /// The runs of objects, in the order in which they stand in a finished list. Containers stand after `shared`.
    enum Section: Int {
        /// Names of keys and classes, and references to objects: mostly the same in every list of a kind.
        case shared
        /// Reals, dates, Booleans, and text so short that it is mostly a code: mostly of one length.
        case fixed
        /// Integers: of a few lengths.
        case integers
        /// Other text, and data.
        case long
    }

    /// Whether a text is the same in most lists of a kind.
    enum TextRole {
        /// The name of a key or of a class.
        case name
        case value
    }

    /// The header and the shared objects; in the end the finished list.
    private(set) var bytes = RawBuffer<UInt8>(capacity: 1_024)
    private var fixed = RawBuffer<UInt8>(capacity: 256)
    private var integers = RawBuffer<UInt8>(capacity: 256)
    private var long = RawBuffer<UInt8>(capacity: 512)
    /// The offset of each object in its section, with the section in the two lowest bits; 0 for a container that is
    /// still to be written.
    private var offsets = RawBuffer<Int>(capacity: 64)
    /// Containers kept back: number, marker's high half, count, then the references; of a dictionary by pairs.
    private var containers = RawBuffer<UInt32>(capacity: 128)

    /// Where each section begins in the finished list.
    private var sectionStarts = RawBuffer<Int>(capacity: 4)

    init() {
        sectionStarts.append(repeating: 0, count: 4)
        let header: StaticString = "bplist00"
        header.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Begins again with the memory that is there, after the first names.
    ///
    /// - Parameters:
    ///   - count: how many objects stay; they must be names, and the first objects.
    ///   - end: where these, or the header alone, end in the list.
    mutating func reset(keeping count: Int = 0, end: Int = 8) {
        bytes.truncate(to: end)
        fixed.truncate(to: 0)
        integers.truncate(to: 0)
        long.truncate(to: 0)
        offsets.truncate(to: count)
        containers.truncate(to: 0)
    }

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { bytes.capacity + fixed.capacity + integers.capacity + long.capacity }

    // MARK: Scalars

    /// Takes the number of an object that is written at `offset` of a section.
    @inline(__always)
    private mutating func begin(in section: Section, at offset: Int) -> Reference {
        offsets.append(offset &<< 2 | section.rawValue)
        return Reference(truncatingIfNeeded: offsets.count &- 1)
    }

    mutating func addNull() -> Reference {
        let reference = begin(in: .shared, at: bytes.count)
        bytes.append(0x00)
        return reference
    }

    mutating func add(_ value: Bool) -> Reference {
        let reference = begin(in: .fixed, at: fixed.count)
        fixed.append(value ? 0x09 : 0x08)
        return reference
    }

    mutating func add(_ value: Int64) -> Reference {
        let reference = begin(in: .integers, at: integers.count)
        Self.append(value, to: &integers)
        return reference
    }

    /// Adds an integer that is the same in most lists of a kind.
    mutating func add(constant value: Int64) -> Reference {
        let reference = begin(in: .shared, at: bytes.count)
        Self.append(value, to: &bytes)
        return reference
    }

    mutating func add(_ value: UInt64) -> Reference {
        if let signed = Int64(exactly: value) { return add(signed) }
        let reference = begin(in: .integers, at: integers.count)
        integers.append(0x14)
        integers.append(bigEndian: 0, width: 8)
        integers.append(bigEndian: value, width: 8)
        return reference
    }

    mutating func add(_ value: Double) -> Reference { addReal(0x23, value.bitPattern, width: 8) }

    mutating func add(_ value: Float) -> Reference { addReal(0x22, UInt64(value.bitPattern), width: 4) }

    /// Adds a date, in seconds since 2001.
    mutating func add(date seconds: Double) -> Reference { addReal(0x33, seconds.bitPattern, width: 8) }

    @inline(__always)
    private mutating func addReal(_ marker: UInt8, _ bits: UInt64, width: Int) -> Reference {
        let reference = begin(in: .fixed, at: fixed.count)
        fixed.append(marker)
        fixed.append(bigEndian: bits, width: width)
        return reference
    }

    mutating func add(data: UnsafeRawBufferPointer) -> Reference {
        let reference = begin(in: .long, at: long.count)
        Self.appendMarker(0x40, count: data.count, to: &long)
        data.withMemoryRebound(to: UInt8.self) { long.append(contentsOf: $0) }
        return reference
    }

    mutating func add(ascii: UnsafeBufferPointer<UInt8>, as role: TextRole) -> Reference {
        if role == .name { return add(name: ascii) }
        if ascii.count <= Self.codeLength {
            let reference = begin(in: .fixed, at: fixed.count)
            Self.append(ascii: ascii, to: &fixed)
            return reference
        }
        let reference = begin(in: .long, at: long.count)
        Self.append(ascii: ascii, to: &long)
        return reference
    }

    /// Adds the ASCII name of a key or of a class.
    @inline(__always)
    mutating func add(name: UnsafeBufferPointer<UInt8>) -> Reference {
        let reference = begin(in: .shared, at: bytes.count)
        Self.append(ascii: name, to: &bytes)
        return reference
    }

    /// The length up to which text is taken for a code, as of a country or a currency.
    private static let codeLength = 3

    mutating func add(utf16 units: String.UTF16View, as role: TextRole) -> Reference {
        if role == .name {
            let reference = begin(in: .shared, at: bytes.count)
            Self.append(utf16: units, to: &bytes)
            return reference
        }
        let reference = begin(in: .long, at: long.count)
        Self.append(utf16: units, to: &long)
        return reference
    }

    mutating func add(uid: UInt32) -> Reference {
        let reference = begin(in: .shared, at: bytes.count)
        if uid <= 0xFF {
            bytes.append(bigEndian: 0x8000 | UInt64(uid), width: 2)
            return reference
        }
        let width = uid <= 0xFFFF ? 2 : 4
        bytes.append(0x80 | UInt8(truncatingIfNeeded: width &- 1))
        bytes.append(bigEndian: UInt64(uid), width: width)
        return reference
    }

    // MARK: Added objects

    /// The section of an object that is not a container, and where it ends if it was added last.
    @inline(__always)
    func end(of reference: Reference) -> (section: Section, end: Int) {
        switch offsets[Int(reference)] & 3 {
        case Section.shared.rawValue: (.shared, bytes.count)
        case Section.fixed.rawValue: (.fixed, fixed.count)
        case Section.integers.rawValue: (.integers, integers.count)
        default: (.long, long.count)
        }
    }

    /// Whether the bytes from `offset` of a section on are those of `text`.
    @inline(__always)
    func holds(_ text: UnsafeBufferPointer<UInt8>, at offset: Int, of section: Section) -> Bool {
        // Most are keys.
        if section == .shared { return bytes.holds(text, at: offset) }
        switch section {
        case .shared: return bytes.holds(text, at: offset)
        case .fixed: return fixed.holds(text, at: offset)
        case .integers: return integers.holds(text, at: offset)
        case .long: return long.holds(text, at: offset)
        }
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

    mutating func addElements(_ elements: borrowing RawBuffer<Reference>) {
        containers.append(contentsOf: elements)
    }

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
        containers.append(pairsOf: pairs, from: start)
    }

    // MARK: The end

    /// Writes the containers that were kept back, the other sections, the offset table and the trailer.
    mutating func finish(top: Reference) {
        let referenceWidth = Self.width(of: UInt64(max(offsets.count - 1, 0)))
        bytes.append(containers: containers, width: referenceWidth, offsets: &offsets, shift: 2)
        appendSections()
        let table = bytes.count
        let offsetWidth = Self.width(of: UInt64(table))
        // A container that was abandoned stands for object 0.
        let first = offsets[0]
        let starts = sectionStarts.start
        bytes.append(bigEndian: offsets, width: offsetWidth) {
            let entry = $0 == 0 ? first : $0
            return (entry &>> 2) &+ starts[entry & 3]
        }
        bytes.append(bigEndian: UInt64(offsetWidth) << 8 | UInt64(referenceWidth), width: 8)
        bytes.append(bigEndian: UInt64(offsets.count), width: 8)
        bytes.append(bigEndian: UInt64(top), width: 8)
        bytes.append(bigEndian: UInt64(table), width: 8)
    }

    /// Puts the sections after the shared objects and the containers.
    private mutating func appendSections() {
        sectionStarts[Section.fixed.rawValue] = bytes.count
        bytes.append(contentsOf: fixed)
        sectionStarts[Section.integers.rawValue] = bytes.count
        bytes.append(contentsOf: integers)
        sectionStarts[Section.long.rawValue] = bytes.count
        if long.count > Self.copiedLength {
            long.prepend(contentsOf: bytes)
            swap(&bytes, &long)
        } else {
            bytes.append(contentsOf: long)
        }
    }

    /// The length from which text and data are moved within their memory, not copied to other memory.
    private static let copiedLength = 1 << 18

    /// Gives the finished list away, in memory that the caller must `free`.
    mutating func take() -> UnsafeMutableBufferPointer<UInt8> { bytes.take() }

    // MARK: Bytes

    /// The fewest bytes, out of 1, 2, 4 and 8, that hold `value`.
    private static func width(of value: UInt64) -> Int {
        value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFF_FFFF ? 4 : 8
    }

    @inline(__always)
    private static func appendMarker(_ high: UInt8, count: Int, to buffer: inout RawBuffer<UInt8>) {
        if count < 15 {
            buffer.append(high | UInt8(truncatingIfNeeded: count))
        } else {
            buffer.append(high | 0x0F)
            append(Int64(count), to: &buffer)
        }
    }

    private static func append(_ value: Int64, to buffer: inout RawBuffer<UInt8>) {
        // Widths below 8 are read as unsigned, so a negative number takes all 8 bytes.
        let pattern = UInt64(bitPattern: value)
        let width = Self.width(of: pattern)
        buffer.append(0x10 | UInt8(truncatingIfNeeded: width.trailingZeroBitCount))
        buffer.append(bigEndian: pattern, width: width)
    }

    @inline(__always)
    private static func append(ascii: UnsafeBufferPointer<UInt8>, to buffer: inout RawBuffer<UInt8>) {
        let count = ascii.count
        if count < 15 { return buffer.append(0x50 | UInt8(truncatingIfNeeded: count), text: ascii) }
        appendMarker(0x50, count: count, to: &buffer)
        buffer.append(contentsOf: ascii)
    }

    private static func append(utf16 units: String.UTF16View, to buffer: inout RawBuffer<UInt8>) {
        appendMarker(0x60, count: units.count, to: &buffer)
        for unit in units { buffer.append(bigEndian: UInt64(unit), width: 2) }
    }
}

/// A key and its value in a dictionary that is being written.
struct KeyedReference: BitwiseCopyable {
    var key: BinaryPropertyListWriter.Reference
    var value: BinaryPropertyListWriter.Reference
}

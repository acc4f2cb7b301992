/// Reads a binary property list into a table of nodes.
///
///     "bplist00"  8 bytes
///     objects     marker, count, contents
///     offsets     of each object, big endian
///     trailer     5 unused, sort version, offset width, reference width, objects u64, top u64, table u64
///
/// Every offset, count and reference is checked before its use. A container that is used twice is read twice, which
/// the limit of values bounds, a scalar once; text and data have a bound of their own, for objects may overlap. A container
/// that contains itself is an error.
struct BinaryReader: ~Copyable {
    private var builder: NodeBuilder
    private let source: ByteView
    private let offsetWidth: Int
    private let referenceWidth: Int
    private let objectCount: Int
    private let table: Int
    private let depthLimit: Int
    /// The objects that are being read, outermost first.
    private var open: [Int] = []
    /// By object: the node of a scalar that was read; 0 for none, which is the root's.
    private var known: [UInt32]
    /// The bytes of text and data that may still be read, counted wherever they are used.
    private var left: Int

    static func read(_ bytes: [UInt8], limits: PropertyListLimits) throws(PropertyListError) -> NodeTable {
        try ByteView.with(bytes) { source throws(PropertyListError) in
            let trailer = try BinaryTrailer(source)
            var reader = BinaryReader(source, trailer, limits: limits)
            _ = try reader.object(trailer.root)
            return NodeTable(reader.builder, format: .binary)
        }
    }

    private init(_ source: ByteView, _ trailer: BinaryTrailer, limits: PropertyListLimits) {
        self.source = source
        builder = NodeBuilder(source, limits: limits)
        offsetWidth = trailer.offsetWidth
        referenceWidth = trailer.referenceWidth
        objectCount = trailer.objectCount
        table = trailer.table
        depthLimit = limits.depth
        known = Array(repeating: 0, count: trailer.objectCount)
        left = max(PropertyListLimits.leastText, source.count.multipliedReportingOverflow(by: 64).partialValue)
    }

    /// A number of 1 to 8 bytes that lie before the trailer, so that eight can be read at once.
    @inline(__always)
    private func number(_ at: Int, _ width: Int) -> UInt64 {
        UInt64(bigEndian: source.word(at: at)) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    }

    /// The offset of an object, that of a reference at `place`.
    @inline(__always)
    private func offset(of object: Int) throws(PropertyListError) -> Int {
        let place = table &+ object &* offsetWidth
        let value = number(place, offsetWidth)
        guard value >= 8, value < UInt64(table) else {
            throw PropertyListError(.corrupted, "object \(object) lies outside of the objects", offset: place)
        }
        return Int(value)
    }

    @inline(__always)
    private func reference(_ at: Int) throws(PropertyListError) -> Int {
        let value = number(at, referenceWidth)
        guard value < UInt64(objectCount) else {
            throw PropertyListError(
                .corrupted,
                "reference to object \(value), which the list does not have",
                offset: at
            )
        }
        return Int(value)
    }

    /// The first byte and the count of an object's contents, which are all there, `unit` bytes each.
    @inline(__always)
    private func contents(_ at: Int, unit: Int) throws(PropertyListError) -> (start: Int, count: Int) {
        var start = at &+ 1
        var count = UInt64(source[at] & 0x0F)
        if count == 15 {
            guard start < table, source[start] & 0xF0 == 0x10, source[start] & 0x0F <= 3 else {
                throw PropertyListError(.corrupted, "count that is not an integer", offset: start)
            }
            let width = 1 << Int(source[start] & 0x0F)
            guard start + 1 + width <= table else { throw truncated(at) }
            count = number(start + 1, width)
            start += 1 + width
        }
        guard count <= UInt64((table &- start) / unit) else { throw truncated(at) }
        return (start, Int(count))
    }

    private func truncated(_ at: Int) -> PropertyListError {
        PropertyListError(.corrupted, "object longer than the list", offset: at)
    }

    private func bits(_ at: Int, _ width: Int) throws(PropertyListError) -> UInt64 {
        guard at &+ 1 &+ width <= table else { throw truncated(at) }
        return number(at &+ 1, width)
    }

    private mutating func object(_ object: Int) throws(PropertyListError) -> Int {
        let first = Int(known[object])
        if first != 0 { return try append(again: builder.nodes[first]) }
        let at = try offset(of: object)
        let marker = source[at]
        if marker >> 4 < 0xA {
            let node = try scalar(marker, at)
            if node != 0 { known[object] = UInt32(truncatingIfNeeded: node) }
            return node
        }
        switch marker >> 4 {
        case 0xA: return try list(.array, object, at: at)
        case 0xC: return try list(.set, object, at: at)
        case 0xD: return try dictionary(object, at)
        default: throw unknown(at)
        }
    }

    private func unknown(_ at: Int) -> PropertyListError {
        PropertyListError(.corrupted, "object of an unknown kind", offset: at)
    }

    @inline(__always)
    private mutating func append(again node: Node) throws(PropertyListError) -> Int {
        var node = node
        node.next = 0
        if node.kind == .string || node.kind == .data { try take(node.length, Int(node.offset)) }
        return try builder.append(node)
    }

    /// Counts text or data.
    @inline(__always)
    private mutating func take(_ count: Int, _ at: Int) throws(PropertyListError) {
        left &-= count
        guard left >= 0 else {
            throw PropertyListError(.limitExceeded, "strings and data that are used again and again", offset: at)
        }
    }

    @inline(__always)
    private mutating func scalar(_ marker: UInt8, _ at: Int) throws(PropertyListError) -> Int {
        switch marker >> 4 {
        case 0x5:
            let (start, count) = try contents(at, unit: 1)
            return try ascii(start, count: count, at: at)
        case 0x1: return try integer(at)
        case 0x0:
            switch marker {
            case 0x00: return try builder.append(Node(.null, offset: at))
            case 0x08: return try builder.append(Node(.bool, offset: at, payload: 0))
            case 0x09: return try builder.append(Node(.bool, offset: at, payload: 1))
            default: break
            }
        case 0x2:
            if marker == 0x22 { return try builder.append(Node(.float, offset: at, payload: bits(at, 4))) }
            if marker == 0x23 { return try builder.append(Node(.real, offset: at, payload: bits(at, 8))) }
        case 0x3:
            if marker == 0x33 {
                let bits = try bits(at, 8)
                guard Double(bitPattern: bits).isFinite else {
                    throw PropertyListError(.corrupted, "date that is not a finite number", offset: at)
                }
                return try builder.append(Node(.date, offset: at, payload: bits))
            }
        case 0x4:
            let (start, count) = try contents(at, unit: 1)
            try take(count, at)
            return try builder.append(Node(.data, offset: at, payload: UInt64(start), count: count))
        case 0x6:
            let (start, count) = try contents(at, unit: 2)
            return try utf16(start, count: count, at: at)
        case 0x8:
            return try builder.append(Node(.uid, offset: at, payload: uid(at, width: Int(marker & 0x0F) + 1)))
        default: break
        }
        throw unknown(at)
    }

    /// The value of a UID of 1 to 16 bytes.
    private func uid(_ at: Int, width: Int) throws(PropertyListError) -> UInt64 {
        guard at &+ 1 &+ width <= table else { throw truncated(at) }
        let wide = max(width - 8, 0)
        let value = number(at &+ 1 &+ wide, width - wide)
        guard value <= UInt64(UInt32.max), source.part(at + 1..<at + 1 + wide).allSatisfy({ $0 == 0 }) else {
            throw PropertyListError(.corrupted, "UID above 32 bits", offset: at)
        }
        return value
    }

    private mutating func integer(_ at: Int) throws(PropertyListError) -> Int {
        let exponent = Int(source[at] & 0x0F)
        switch exponent {
        case 0...3: return try builder.append(Node(.integer, offset: at, payload: bits(at, 1 << exponent)))
        case 4:
            guard at + 17 <= table else { throw truncated(at) }
            let high = number(at + 1, 8)
            let low = number(at + 9, 8)
            if high == 0 {
                return try builder.append(Node(low >> 63 == 0 ? .integer : .unsigned, offset: at, payload: low))
            }
            if high == .max, low >> 63 == 1 { return try builder.append(Node(.integer, offset: at, payload: low)) }
            throw PropertyListError(.corrupted, "integer beyond 64 bits", offset: at)
        default: throw PropertyListError(.corrupted, "integer of an impossible width", offset: at)
        }
    }

    private mutating func ascii(_ start: Int, count: Int, at: Int) throws(PropertyListError) -> Int {
        try take(count, at)
        // Bytes above 0x7F are not ASCII, but some writers put UTF-8 there.
        guard source.part(start..<start &+ count).isUTF8 else {
            throw PropertyListError(.corrupted, "string that is not text", offset: at)
        }
        return try builder.append(Node(.string, offset: at, payload: UInt64(start), count: count))
    }

    private mutating func utf16(_ start: Int, count: Int, at: Int) throws(PropertyListError) -> Int {
        try take(2 * count, at)
        let units = (0..<count).map { UInt16(source[start + 2 * $0]) << 8 | UInt16(source[start + 2 * $0 + 1]) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw PropertyListError(.corrupted, "string with invalid UTF-16", offset: at)
        }
        return try builder.string(text, offset: at)
    }

    private mutating func enter(_ object: Int, _ at: Int) throws(PropertyListError) {
        try PropertyListLimits.check(depth: open.count, limit: depthLimit, offset: at)
        guard !open.contains(object) else {
            throw PropertyListError(.corrupted, "container that contains itself", offset: at)
        }
        open.append(object)
    }

    private mutating func list(_ kind: Node.Kind, _ object: Int, at: Int) throws(PropertyListError) -> Int {
        let (start, count) = try contents(at, unit: referenceWidth)
        try enter(object, at)
        let container = try builder.append(Node(kind, offset: at, count: count))
        var last: Int?
        for index in 0..<count {
            let member = try self.object(reference(start &+ index &* referenceWidth))
            builder.link(member, to: container, after: last)
            last = member
        }
        open.removeLast()
        return container
    }

    private mutating func dictionary(_ object: Int, _ at: Int) throws(PropertyListError) -> Int {
        let (start, count) = try contents(at, unit: 2 &* referenceWidth)
        try enter(object, at)
        let container = try builder.append(Node(.dictionary, offset: at, count: count))
        var last: Int?
        for index in 0..<count {
            let place = start &+ index &* referenceWidth
            let name = try reference(place)
            let kind = try source[offset(of: name)] >> 4
            guard kind == 5 || kind == 6 else {
                throw PropertyListError(.corrupted, "key that is not a string", offset: place)
            }
            let key = try self.object(name)
            builder.shareText(ofKey: key)
            builder.link(key, to: container, after: last)
            let value = try self.object(reference(place &+ count &* referenceWidth))
            builder.link(value, to: container, after: key)
            last = value
        }
        open.removeLast()
        return container
    }
}

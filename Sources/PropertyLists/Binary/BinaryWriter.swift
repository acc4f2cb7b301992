import Foundation

/// Writes a table of nodes as a binary property list, with equal scalars written once.
///
/// Objects are numbered as they are first met, a container before its members.
struct BinaryWriter: ~Copyable {
    private let source: NodeTable
    private var output: ByteOutput
    /// Objects in the order of their numbers: the node of each.
    private var objects: [Int32] = []
    /// By node of a container's member: the number of its object.
    private var numbers: [UInt32]
    /// By hash: an object's number + 1; 0 for empty.
    private var buckets: [UInt32]
    private let seed = UInt64.random(in: .min ... .max)

    static func write(_ source: NodeTable) throws(PropertyListError) -> Data {
        var writer = BinaryWriter(source)
        try writer.write()
        return writer.data()
    }

    /// The list, and by number of each object the place in the input of the value that it was first met as.
    static func writeWithPlaces(_ source: NodeTable) throws(PropertyListError) -> (list: Data, places: [Int]) {
        var writer = BinaryWriter(source)
        try writer.write()
        let places = writer.objects.map { Int(source.nodes[Int($0)].offset) }
        return (writer.data(), places)
    }

    private consuming func data() -> Data { output.data() }

    private init(_ source: NodeTable) {
        self.source = source
        numbers = Array(repeating: 0, count: source.nodes.count)
        var size = 16
        while size < 2 * source.nodes.count { size *= 2 }
        buckets = Array(repeating: 0, count: size)
        output = ByteOutput(capacity: source.nodes.count * 12 + 64)
        output.append("bplist00")
        objects.reserveCapacity(source.nodes.count)
    }

    private mutating func write() throws(PropertyListError) {
        // Breadth does not matter: a member's number is known before any object is written.
        for index in 0..<source.nodes.count { number(index, source.nodes[index]) }
        let width = Self.width(of: UInt64(objects.count))
        var offsets: [Int] = []
        offsets.reserveCapacity(objects.count)
        for object in objects {
            offsets.append(output.count)
            try write(source.nodes[Int(object)], width: width)
        }
        let table = output.count
        let offsetWidth = Self.width(of: UInt64(table))
        for offset in offsets { append(UInt64(offset), width: offsetWidth) }
        output.append(0, times: 6)
        output.append(UInt8(offsetWidth))
        output.append(UInt8(width))
        append(UInt64(objects.count), width: 8)
        append(0, width: 8)
        append(UInt64(table), width: 8)
    }

    private static func width(of number: UInt64) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private mutating func number(_ index: Int, _ node: Node) {
        if node.isContainer {
            numbers[index] = UInt32(objects.count)
            objects.append(Int32(index))
            return
        }
        let mask = buckets.count &- 1
        var at = Int(truncatingIfNeeded: hash(node)) & mask
        while buckets[at] != 0 {
            let known = buckets[at] &- 1
            if isSame(node, source.nodes[Int(objects[Int(known)])]) {
                numbers[index] = known
                return
            }
            at = (at &+ 1) & mask
        }
        numbers[index] = UInt32(objects.count)
        objects.append(Int32(index))
        buckets[at] = UInt32(objects.count)
    }

    @inline(__always)
    private func isSame(_ left: Node, _ right: Node) -> Bool {
        guard left.kind == right.kind, left.count == right.count else { return false }
        guard left.kind == .string || left.kind == .data else { return left.payload == right.payload }
        if left.payload == right.payload { return true }
        return source.haveSameBytes(left, source.bytes.part(right.range))
    }

    @inline(__always)
    private func hash(_ node: Node) -> UInt64 {
        func mix(_ value: UInt64) -> UInt64 {
            let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            return high ^ low
        }
        let start = seed ^ UInt64(node.kind.rawValue) << 32 ^ UInt64(node.count)
        guard node.kind == .string || node.kind == .data else { return mix(start ^ mix(node.payload ^ seed)) }
        let part = source.bytes.part(node.range)
        var hash = start
        var at = 0
        while at &+ 8 <= part.count {
            hash = mix(hash ^ part.word(at: at))
            at &+= 8
        }
        var rest: UInt64 = 0
        while at < part.count {
            rest = rest << 8 | UInt64(part[at])
            at &+= 1
        }
        return mix(mix(hash ^ rest) ^ seed)
    }

    @inline(__always)
    private mutating func append(_ number: UInt64, width: Int) {
        output.append(bigEndian: number, width: width)
    }

    private mutating func appendMarker(_ marker: UInt8, count: Int) {
        if count < 15 { return output.append(marker | UInt8(count)) }
        output.append(marker | 0x0F)
        appendInteger(UInt64(count))
    }

    private mutating func appendInteger(_ number: UInt64) {
        let width = Self.width(of: number)
        output.append(0x10 | UInt8(width.trailingZeroBitCount))
        append(number, width: width)
    }

    private mutating func write(_ node: Node, width: Int) throws(PropertyListError) {
        switch node.kind {
        case .null: output.append(0x00)
        case .bool: output.append(node.payload == 0 ? 0x08 : 0x09)
        // Negative ones are two's complement of eight bytes.
        case .integer: appendInteger(node.payload)
        case .unsigned:
            output.append(0x14)
            append(0, width: 8)
            append(node.payload, width: 8)
        case .float:
            output.append(0x22)
            append(node.payload, width: 4)
        case .real:
            output.append(0x23)
            append(node.payload, width: 8)
        case .date:
            output.append(0x33)
            append(node.payload, width: 8)
        case .uid:
            let width = Self.width(of: node.payload)
            output.append(0x80 | UInt8(width - 1))
            append(node.payload, width: width)
        case .data:
            appendMarker(0x40, count: node.length)
            output.append(source.bytes.part(node.range))
        case .string:
            let text = source.bytes.part(node.range)
            if text.isASCII {
                appendMarker(0x50, count: node.length)
                output.append(text)
            } else {
                let units = Array(source.text(node).utf16)
                appendMarker(0x60, count: units.count)
                for unit in units { append(UInt64(unit), width: 2) }
            }
        case .array, .set:
            appendMarker(node.kind == .array ? 0xA0 : 0xC0, count: node.length)
            var member = node.start
            while member != 0 {
                append(UInt64(numbers[member]), width: width)
                member = Int(source.nodes[member].next)
            }
        case .dictionary:
            appendMarker(0xD0, count: node.length)
            var key = node.start
            while key != 0 {
                append(UInt64(numbers[key]), width: width)
                key = Int(source.nodes[Int(source.nodes[key].next)].next)
            }
            key = node.start
            while key != 0 {
                let value = Int(source.nodes[key].next)
                append(UInt64(numbers[value]), width: width)
                key = Int(source.nodes[value].next)
            }
        }
    }
}

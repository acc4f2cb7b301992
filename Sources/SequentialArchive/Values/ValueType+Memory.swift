import KeyedArchive

/// How values of a type lie in memory, by the rules of C.
extension ValueType {
    /// The type that a program names.
    ///
    /// - Throws: as `one`.
    static func of(_ name: UnsafePointer<CChar>) throws(ArchiveError) -> ValueType {
        if name[0] != 0, name[1] == 0, let type = ValueType(letter: UInt8(bitPattern: name[0])) { return type }
        var bytes: [UInt8] = []
        var next = name
        while next.pointee != 0 {
            bytes.append(UInt8(bitPattern: next.pointee))
            next += 1
        }
        return try one(bytes)
    }

    /// The bytes of a value, and the number that its address is a multiple of.
    var layout: (size: Int, alignment: Int) {
        switch self {
        case .integer(let type): return (type.size, type.size)
        case .float: return (4, 4)
        case .double: return (8, 8)
        case .object, .classObject, .selector, .cString, .atom, .bytes:
            return (MemoryLayout<UnsafeRawPointer?>.size, MemoryLayout<UnsafeRawPointer?>.alignment)
        case .omitted: return (0, 1)
        case .array(let count, let element):
            let layout = element.layout
            return (count * layout.size, layout.alignment)
        case .structure(_, let fields):
            var size = 0
            var alignment = 1
            for field in fields {
                let layout = field.layout
                size = Self.aligned(size, to: layout.alignment) + layout.size
                alignment = max(alignment, layout.alignment)
            }
            return (Self.aligned(size, to: alignment), alignment)
        }
    }

    /// The types of the parts of an array or structure, with their places in its memory.
    func forEachPart<Failure>(_ body: (ValueType, Int) throws(Failure) -> Void) throws(Failure) {
        switch self {
        case .array(let count, let element):
            let size = element.layout.size
            for index in 0..<count { try body(element, index * size) }
        case .structure(_, let fields):
            var offset = 0
            for field in fields {
                let layout = field.layout
                offset = Self.aligned(offset, to: layout.alignment)
                try body(field, offset)
                offset += layout.size
            }
        default: break
        }
    }

    private static func aligned(_ offset: Int, to alignment: Int) -> Int {
        (offset + alignment - 1) / alignment * alignment
    }
}

import Foundation
import KeyedArchive

extension SequentialUnarchiver {
    /// The type of the next value; begins a group if the last one is at its end.
    func nextType() throws(ArchiveError) -> ValueType {
        if let type = frame.types.popLast() { return type }
        if reader.isAtEnd {
            throw ArchiveError(
                .missingValue,
                "a value is expected, and the archive ends here",
                offset: reader.position
            )
        }
        if frame.cls != nil, try reader.peek() == StreamTag.end {
            throw ArchiveError(
                .missingValue,
                "a value is expected, and the object has no more",
                offset: reader.position
            )
        }
        let number = try reader.group()
        if let type = reader.type(ofString: number) { return type }
        let types = try reader.types(ofString: number)
        guard let first = types.first else { throw reader.corrupted("a group of values without a type") }
        // Any number of groups within each other may share the text of their types, and each has a copy of them.
        try reader.spend(types.count)
        frame.types = types.dropFirst().reversed()
        return first
    }

    func mismatch(_ stored: ValueType, asked: ValueType) -> ArchiveError {
        ArchiveError(
            .typeMismatch,
            "a value of the type \(stored), where \(asked) is expected: values are decoded in the order and by the "
                + "types in which they were encoded",
            offset: reader.position
        )
    }

    private func next(_ asked: ValueType) throws(ArchiveError) {
        let stored = try nextType()
        guard stored == asked else { throw mismatch(stored, asked: asked) }
    }

    // MARK: For Foundation's classes

    func nextObject() throws(ArchiveError) -> Any? {
        try next(.object)
        return try object()
    }

    /// The next integer, of any type.
    func nextInteger() throws(ArchiveError) -> Int64 {
        guard case .integer(let type) = try nextType(), case .signed(let value) = try reader.integer(type) else {
            throw reader.corrupted("no integer, where one must be")
        }
        return value
    }

    /// A count of members, each of which takes a byte at least.
    func nextCount() throws(ArchiveError) -> Int {
        let start = reader.position
        let count = try nextInteger()
        guard count >= 0, count <= reader.remaining else {
            throw reader.corrupted("\(count) members, where \(reader.remaining) bytes are left", at: start)
        }
        return Int(count)
    }

    func nextDouble() throws(ArchiveError) -> Double {
        let type = try nextType()
        guard type == .double || type == .float else { throw mismatch(type, asked: .double) }
        return try real(type)
    }

    func nextCString() throws(ArchiveError) -> [UInt8]? {
        try next(.cString)
        return try cString()
    }

    /// Bytes after their length, or data.
    func nextBytes() throws(ArchiveError) -> Data? {
        let type = try nextType()
        if type != .bytes { return try data(type) }
        if try reader.peek() == StreamTag.null {
            reader.position += 1
            return nil
        }
        return Data(reader.bytes[try reader.raw(reader.count())])
    }

    /// The text of bytes in UTF-8; `nil` if they are not valid.
    func nextText() throws(ArchiveError) -> String? {
        let type = try nextType()
        guard type == .bytes, try reader.peek() != StreamTag.null else {
            throw mismatch(type, asked: .bytes)
        }
        return reader.text(in: try reader.raw(reader.count()))
    }

    /// A length and an array of bytes.
    func nextData() throws(ArchiveError) -> Data { try data(nextType()) }

    private func data(_ type: ValueType) throws(ArchiveError) -> Data {
        guard case .integer(let length) = type, case .signed(let count) = try reader.integer(length) else {
            throw mismatch(type, asked: .bytes)
        }
        let stored = try nextType()
        guard case .array(let arrayCount, let element) = stored, element.isByte, Int64(arrayCount) == count else {
            throw reader.corrupted("data without an array of as many bytes as it says")
        }
        return Data(reader.bytes[try reader.raw(arrayCount)])
    }

    func real(_ type: ValueType) throws(ArchiveError) -> Double {
        guard try reader.peek() == StreamTag.real else { return Double(try reader.integer()) }
        reader.position += 1
        return type == .float
            ? Double(Float(bitPattern: try reader.bits(UInt32.self)))
            : Double(bitPattern: try reader.bits(UInt64.self))
    }

    // MARK: By C type

    /// Decodes the next value into memory of a type.
    func decode(_ asked: ValueType, at address: UnsafeMutableRawPointer) throws(ArchiveError) {
        var stored = try nextType()
        // A structure may be taken apart: the members of a point were encoded one by one on some systems.
        while case .structure(_, let fields) = stored {
            if case .structure = asked { break }
            frame.types += fields.reversed()
            stored = try nextType()
        }
        try decode(asked, from: stored, at: address)
    }

    private func decode(
        _ asked: ValueType,
        from stored: ValueType,
        at address: UnsafeMutableRawPointer
    ) throws(ArchiveError) {
        try reader.spend(1)
        switch (asked, stored) {
        case (.integer(let asked), .integer(let stored)):
            let start = reader.position
            let value = try reader.integer(stored)
            guard asked.holds(value) || asked == .bool && stored == .int8 else {
                throw ArchiveError(.outOfRange, "an integer that the type asked for does not hold", offset: start)
            }
            asked.store(asked == .bool ? .signed(value == .signed(0) ? 0 : 1) : value, at: address)
        case (.float, .float), (.float, .double):
            let start = reader.position
            let value = try real(stored)
            let float = Float(value)
            guard float.isFinite || !value.isFinite else {
                throw ArchiveError(.outOfRange, "a number that is too large for a float", offset: start)
            }
            address.storeBytes(of: float, as: Float.self)
        case (.double, .float), (.double, .double): address.storeBytes(of: try real(stored), as: Double.self)
        case (.object, .object):
            let object = try object().map { Unmanaged.passRetained($0 as AnyObject).toOpaque() }
            address.storeBytes(of: object, as: UnsafeMutableRawPointer?.self)
        case (.classObject, .classObject):
            var cls: AnyClass?
            if let described = try self.cls() { cls = try allowedClass(described) }
            // A class is the address of its metadata.
            address.storeBytes(
                of: cls.map { unsafeBitCast($0, to: UnsafeRawPointer.self) },
                as: UnsafeRawPointer?.self
            )
        case (.cString, .cString):
            let text = try cString()
            // Many values may share the text, and each is kept.
            try reader.spend(text?.count ?? 0)
            address.storeBytes(of: text.map(keep), as: UnsafeMutablePointer<CChar>?.self)
        case (.selector, .selector):
            let number = try reader.sharedString()
            guard number.map(reader.isCString) != false else {
                throw reader.corrupted("a selector with a zero inside")
            }
            let name = number.map(reader.bytes(ofString:))
            try reader.spend(name?.count ?? 0)
            SelectorName.store(name, at: address, keeping: keep)
        case (.array(let askedCount, let asked), .array(let count, let element)) where askedCount == count:
            let size = asked.layout.size
            for index in 0..<count { try decode(asked, from: element, at: address + index * size) }
        case (.structure(let askedName, let askedFields), .structure(let name, let fields))
        where askedFields.count == fields.count && Self.areAlike(askedName, name):
            var index = 0
            try asked.forEachPart { part, offset throws(ArchiveError) in
                try decode(part, from: fields[index], at: address + offset)
                index += 1
            }
        case (.omitted, .omitted): break
        default: throw mismatch(stored, asked: asked)
        }
    }

    /// Whether two structures may be the same by their names, of which either may be missing.
    private static func areAlike(_ left: String?, _ right: String?) -> Bool {
        left == right || left == nil || left == "?" || right == nil || right == "?"
    }

    // MARK: Skipping

    /// Passes over the rest of an object's groups, and its end.
    func skipRest() throws(ArchiveError) {
        while let type = frame.types.popLast() { try skip(type) }
        while try reader.peek() != StreamTag.end {
            for type in try reader.types(ofString: try reader.group()) { try skip(type) }
        }
        reader.position += 1
    }

    private func skip(_ type: ValueType) throws(ArchiveError) {
        try reader.spend(1)
        switch type {
        case .integer(let type): _ = try reader.integer(type)
        case .float, .double: _ = try real(type)
        case .object: try skipObject()
        case .classObject: _ = try cls()
        case .cString: _ = try cString()
        case .selector, .atom: _ = try reader.sharedString()
        case .bytes:
            if try reader.peek() == StreamTag.null {
                reader.position += 1
            } else {
                _ = try reader.raw(reader.count())
            }
        case .omitted: break
        case .array(let count, let element):
            if element.isByte {
                _ = try reader.raw(count)
            } else {
                for _ in 0..<count { try skip(element) }
            }
        case .structure(_, let fields): for field in fields { try skip(field) }
        }
    }

    private func skipObject() throws(ArchiveError) {
        switch try reader.peek() {
        case StreamTag.null: reader.position += 1
        case StreamTag.new:
            try enter()
            defer { nesting.leave() }
            _ = takeEntry(.skipped(position: reader.position, nextString: reader.nextString))
            reader.position += 1
            try skipContents()
        default: _ = try reader.reference(below: nextEntry)
        }
    }

    /// Passes over an object after its tag.
    func skipContents() throws(ArchiveError) {
        let outer = frame
        defer { frame = outer }
        frame = StreamFrame(cls: try cls())
        try skipRest()
    }
}

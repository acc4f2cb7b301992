import Foundation
import KeyedArchive

extension TypedStream {
    /// Opens an archive of `NSArchiver`, of either byte order.
    ///
    /// - Parameters:
    ///   - data: the archive's bytes.
    ///   - limits: how much the archive may ask for.
    /// - Throws: `ArchiveError` with code `.unknownFormat` if the bytes are not a typed stream, `.unsupportedFormat` for
    ///   another version of the format, `.unsupportedType` for values of types that are not read, such as unions and
    ///   pointers, `.corrupted` if the archive is damaged anywhere, `.limitExceeded` if objects nest too deep or the
    ///   archive holds far more than its size can justify.
    /// - Complexity: O(*n*) in the archive's bytes.
    public init(_ data: Data, limits: ArchiveLimits = ArchiveLimits()) throws(ArchiveError) {
        var maker = try TypedStreamMaker(StreamReader(Array(data), limits: limits), limits)
        self = try maker.stream()
    }
}

private struct TypedStreamMaker {
    private let reader: StreamReader
    private var objects: [TypedStream.Object] = []
    private var nesting: NestingLimit
    /// How many classes are above a class, by its place.
    private var classDepths: [Int: Int] = [:]

    init(_ reader: StreamReader, _ limits: ArchiveLimits) {
        self.reader = reader
        nesting = NestingLimit(levels: limits.depth)
    }

    mutating func stream() throws(ArchiveError) -> TypedStream {
        var groups: [TypedStream.Group] = []
        while !reader.isAtEnd { groups.append(try group()) }
        return TypedStream(
            groups: groups,
            objects: objects,
            systemVersion: reader.systemVersion,
            byteOrder: reader.byteOrder
        )
    }

    private mutating func group() throws(ArchiveError) -> TypedStream.Group {
        let number = try reader.group()
        let text = try reader.text(ofString: number)
        let types = try reader.types(ofString: number)
        var values: [TypedStream.Value] = []
        values.reserveCapacity(min(types.count, reader.remaining))
        for type in types { values.append(try value(type)) }
        return TypedStream.Group(types: text, values: values)
    }

    private mutating func value(_ type: ValueType) throws(ArchiveError) -> TypedStream.Value {
        try reader.spend(1)
        switch type {
        case .integer(let type): return TypedStream.Value(try reader.integer(type))
        case .float:
            guard try reader.peek() == StreamTag.real else { return .integer(try reader.integer()) }
            reader.position += 1
            return .float(Float(bitPattern: try reader.bits(UInt32.self)))
        case .double:
            guard try reader.peek() == StreamTag.real else { return .integer(try reader.integer()) }
            reader.position += 1
            return .double(Double(bitPattern: try reader.bits(UInt64.self)))
        case .object: return .reference(try object())
        case .classObject: return .reference(try classPlace())
        case .cString: return .reference(try cString())
        case .selector, .atom:
            guard let number = try reader.sharedString() else { return .name(nil) }
            return .name(reader.data(ofString: number))
        case .bytes:
            if try reader.peek() == StreamTag.null {
                reader.position += 1
                return .bytes(nil)
            }
            let range = try reader.raw(reader.count())
            return .bytes(Data(reader.bytes[range]))
        case .omitted: return .omitted
        case .array(let count, let element):
            if element.isByte { return .bytes(Data(reader.bytes[try reader.raw(count)])) }
            try reader.spend(count)
            var values: [TypedStream.Value] = []
            values.reserveCapacity(min(count, reader.remaining))
            for _ in 0..<count { values.append(try value(element)) }
            return .array(values)
        case .structure(_, let fields):
            var values: [TypedStream.Value] = []
            values.reserveCapacity(fields.count)
            for field in fields { values.append(try value(field)) }
            return .structure(values)
        }
    }

    /// The place of an earlier object, if a reference follows; otherwise `nil`, with the reader at a literal.
    private func reference(_ kind: String, _ isKind: (TypedStream.Object) -> Bool) throws(ArchiveError) -> Int {
        let start = reader.position
        let place = try reader.reference(below: objects.count)
        guard isKind(objects[place]) else {
            throw reader.corrupted("a reference to something that is no \(kind)", at: start)
        }
        return place
    }

    private mutating func object() throws(ArchiveError) -> Int? {
        switch try reader.peek() {
        case StreamTag.null:
            reader.position += 1
            return nil
        case StreamTag.new:
            do throws(ArchiveError) {
                try nesting.enter()
            } catch {
                throw ArchiveError(error.code, error.message, offset: reader.position)
            }
            defer { nesting.leave() }
            let start = reader.position
            reader.position += 1
            let place = objects.count
            objects.append(.instance(TypedStream.Instance(classPlace: 0, groups: [])))
            guard let classPlace = try classPlace() else {
                throw reader.corrupted("an object without a class", at: start)
            }
            var groups: [TypedStream.Group] = []
            while try reader.peek() != StreamTag.end { groups.append(try group()) }
            reader.position += 1
            objects[place] = .instance(TypedStream.Instance(classPlace: classPlace, groups: groups))
            return place
        default:
            return try reference("object") { if case .instance = $0 { true } else { false } }
        }
    }

    private mutating func classPlace() throws(ArchiveError) -> Int? {
        let first = objects.count
        while try reader.peek() == StreamTag.new {
            reader.position += 1
            let start = reader.position
            guard let number = try reader.sharedString() else {
                throw reader.corrupted("a class without a name", at: start)
            }
            let name = try reader.text(ofString: number)
            let version = Int(try reader.integer())
            objects.append(.classDescription(TypedStream.ClassDescription(name: name, version: version)))
            try reader.checkClassDepth(objects.count - first)
        }
        var above: Int?
        if try reader.peek() == StreamTag.null {
            reader.position += 1
        } else {
            let start = reader.position
            let place = try reference("class") { if case .classDescription = $0 { true } else { false } }
            // Classes before these end at a root class; these would end at themselves.
            guard place < first else { throw reader.corrupted("a class above itself", at: start) }
            above = place
        }
        var depth = above.flatMap { classDepths[$0] } ?? 0
        try reader.checkClassDepth(depth + objects.count - first)
        for place in (first..<objects.count).reversed() {
            depth += 1
            classDepths[place] = depth
            guard case .classDescription(var description) = objects[place] else { continue }
            description.superclass = above
            objects[place] = .classDescription(description)
            above = place
        }
        return above
    }

    private mutating func cString() throws(ArchiveError) -> Int? {
        switch try reader.peek() {
        case StreamTag.null:
            reader.position += 1
            return nil
        case StreamTag.new:
            let start = reader.position
            reader.position += 1
            guard let number = try reader.sharedString(), reader.isCString(number) else {
                throw reader.corrupted("an invalid C string", at: start)
            }
            objects.append(.cString(reader.data(ofString: number)))
            return objects.count - 1
        default:
            return try reference("C string") { if case .cString = $0 { true } else { false } }
        }
    }
}

extension TypedStream.Value {
    init(_ value: StoredInteger) {
        switch value {
        case .signed(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        }
    }
}

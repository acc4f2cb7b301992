import Foundation
import KeyedArchive

extension TypedStream {
    /// The stream as an archive that `NSUnarchiver` reads.
    ///
    /// Objects that nothing refers to are not written.
    ///
    /// - Parameter byteOrder: the order of the bytes; the stream's own if `nil`.
    /// - Throws: `ArchiveError` with code `.typeMismatch` for a value that is not of its type, `.outOfRange` for an
    ///   integer that its type does not hold, `.corrupted` for a reference to a place that is not there or that holds
    ///   something else, `.unsupportedType` for types that typed streams do not hold, `.limitExceeded` if objects
    ///   nest more than 1,000 deep.
    /// - Complexity: O(*n*) in the stream's values.
    public func data(byteOrder: ByteOrder? = nil) throws(ArchiveError) -> Data {
        var output = TypedStreamOutput(self, byteOrder ?? self.byteOrder)
        for group in groups { try output.write(group) }
        return Data(output.writer.bytes)
    }
}

private struct TypedStreamOutput {
    private let stream: TypedStream
    var writer: StreamWriter
    /// The numbers of places that were written.
    private var numbers: [Int: Int] = [:]
    private var types: [String: [ValueType]] = [:]
    private var nesting = NestingLimit(levels: NestingLimit.levels)

    init(_ stream: TypedStream, _ byteOrder: TypedStream.ByteOrder) {
        self.stream = stream
        writer = StreamWriter(byteOrder: byteOrder, systemVersion: stream.systemVersion)
    }

    mutating func write(_ group: TypedStream.Group) throws(ArchiveError) {
        let types = try self.types(group.types)
        guard types.count == group.values.count else {
            throw ArchiveError(.typeMismatch, "\(group.values.count) values, where the types are of \(types.count)")
        }
        writer.write(shared: group.types)
        for (type, value) in zip(types, group.values) { try write(value, as: type) }
    }

    private mutating func types(_ text: String) throws(ArchiveError) -> [ValueType] {
        if let known = types[text] { return known }
        let made = try ValueType.list(Array(text.utf8))
        types[text] = made
        return made
    }

    private mutating func write(_ value: TypedStream.Value, as type: ValueType) throws(ArchiveError) {
        switch (type, value) {
        case (.integer(let type), .integer(let value)): try write(.signed(value), as: type)
        case (.integer(let type), .unsigned(let value)): try write(StoredInteger(value), as: type)
        case (.float, .integer(let value)), (.double, .integer(let value)): writer.write(integer: value)
        case (.float, .float(let value)): writer.write(bitsOf: value)
        case (.double, .double(let value)): writer.write(bitsOf: value)
        case (.object, .reference(let place)): try write(object: place)
        case (.classObject, .reference(let place)): try write(class: place)
        case (.cString, .reference(let place)): try write(cString: place)
        case (.selector, .name(let name)), (.atom, .name(let name)):
            if let name { writer.write(shared: Array(name)) } else { writer.write(tag: StreamTag.null) }
        case (.bytes, .bytes(let data)):
            if let data { writer.write(unshared: data) } else { writer.write(tag: StreamTag.null) }
        case (.omitted, .omitted): break
        case (.array(let count, let element), .bytes(let data?)) where element.isByte && data.count == count:
            writer.write(raw: data)
        case (.array(let count, let element), .array(let values)) where !element.isByte && values.count == count:
            for value in values { try write(value, as: element) }
        case (.structure(_, let fields), .structure(let values)) where fields.count == values.count:
            for (field, value) in zip(fields, values) { try write(value, as: field) }
        default: throw ArchiveError(.typeMismatch, "a value that is not of the type in its group")
        }
    }

    private mutating func write(_ value: StoredInteger, as type: IntegerType) throws(ArchiveError) {
        guard type.holds(value) else { throw ArchiveError(.outOfRange, "an integer that its type does not hold") }
        writer.write(value, as: type)
    }

    /// Writes a reference to a place that was written, or nil.
    ///
    /// - Returns: the place, if it was not written yet.
    private mutating func unwritten(_ place: Int?) throws(ArchiveError) -> Int? {
        guard let place else {
            writer.write(tag: StreamTag.null)
            return nil
        }
        guard stream.objects.indices.contains(place) else {
            throw ArchiveError(.corrupted, "a reference to object \(place) of \(stream.objects.count)")
        }
        guard let number = numbers[place] else { return place }
        writer.write(reference: number)
        return nil
    }

    private mutating func write(object reference: Int?) throws(ArchiveError) {
        guard case .instance(let instance) = try object(reference, "object") else {
            return try write(known: reference, "object")
        }
        guard let place = try unwritten(reference) else { return }
        try nesting.enter()
        defer { nesting.leave() }
        numbers[place] = writer.beginObject()
        try write(class: instance.classPlace)
        for group in instance.groups { try write(group) }
        writer.write(tag: StreamTag.end)
    }

    private mutating func write(class reference: Int?) throws(ArchiveError) {
        var next = reference
        while case .classDescription(let description) = try object(next, "class") {
            guard let place = try unwritten(next) else { return }
            numbers[place] = writer.beginObject()
            writer.write(shared: description.name)
            writer.write(integer: Int64(description.version))
            next = description.superclass
        }
        try write(known: next, "class")
    }

    private mutating func write(cString reference: Int?) throws(ArchiveError) {
        guard case .cString(let data) = try object(reference, "C string") else {
            return try write(known: reference, "C string")
        }
        guard let place = try unwritten(reference) else { return }
        guard !data.contains(0) else { throw ArchiveError(.corrupted, "a C string with a zero inside") }
        numbers[place] = writer.beginObject()
        writer.write(shared: Array(data))
    }

    private func object(_ place: Int?, _ kind: String) throws(ArchiveError) -> TypedStream.Object? {
        guard let place else { return nil }
        guard let object = stream.object(place) else {
            throw ArchiveError(.corrupted, "a reference to \(kind) \(place) of \(stream.objects.count)")
        }
        return object
    }

    /// Writes nil; anything else is of another kind.
    private mutating func write(known place: Int?, _ kind: String) throws(ArchiveError) {
        guard place == nil else { throw ArchiveError(.corrupted, "a reference to something that is no \(kind)") }
        writer.write(tag: StreamTag.null)
    }
}

import Foundation

/// Any property list as one value, archives included: their references to objects are numbers here.
package struct PropertyListContent: Sendable {
    package typealias Value = PropertyListValue<Int>

    /// Whether it was in the binary form; otherwise it was XML.
    package let isBinary: Bool
    package let value: Value

    /// Opens a property list in the binary or the XML form.
    ///
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if it is neither, `.unsupportedFormat` for encodings that
    ///   are not known, `.corrupted` if it is damaged, `.outOfRange` for integers beyond 64 bits, `.limitExceeded` if
    ///   it nests more than 512 deep, or holds far more than its size can justify.
    /// - Complexity: O(*n*) in the bytes.
    package init(_ bytes: Data) throws(ArchiveError) {
        let (list, origin) = try XMLPropertyList.open(bytes.withUnsafeBytes { Array($0) })
        isBinary = origin == nil
        let reader = PropertyListContentReader(list)
        do throws(ArchiveError) {
            value = try reader.value(list.top, depth: 0)
        } catch {
            throw origin?.located(error, in: list) ?? error
        }
    }

    /// Writes a value as a binary property list.
    ///
    /// - Throws: ``ArchiveError`` with code `.limitExceeded` if it nests more than 512 deep, `.outOfRange` for a
    ///   reference that no archive can hold.
    package static func binary(_ value: Value) throws(ArchiveError) -> Data {
        var writer = PropertyListContentWriter()
        return Data(try writer.list(of: value))
    }
}

private struct PropertyListContentReader {
    private let list: BinaryPropertyList
    private let budget = DecodingBudget()

    init(_ list: BinaryPropertyList) {
        self.list = list
        budget.grant(ArchiveLimits(), byteCount: list.bytes.count)
    }

    func value(
        _ reference: BinaryPropertyList.Reference,
        depth: Int
    ) throws(ArchiveError) -> PropertyListContent.Value {
        guard depth <= XMLPropertyList.depthLimit else {
            throw ArchiveError(
                .limitExceeded,
                "containers nest more than \(XMLPropertyList.depthLimit) deep",
                offset: try list.offset(of: reference)
            )
        }
        try budget.spend(1)
        switch try list.object(reference) {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .real(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let range):
            try budget.spend(bytes: range.count)
            return .data(list.bytes.data(in: range))
        case .ascii(let range):
            try budget.spend(bytes: range.count)
            return .string(try list.string(ascii: range))
        case .utf16(let range):
            try budget.spend(bytes: range.count)
            return .string(try list.string(utf16: range))
        case .uid(let uid): return .reference(Int(uid))
        case .array(let run): return .array(try members(run, depth: depth))
        case .set(let run): return .set(try members(run, depth: depth))
        case .dictionary(let found):
            var fields: [PropertyListContent.Value.Field] = []
            for index in 0..<found.count {
                let key = list.key(found, index)
                guard let name = try list.string(key) else {
                    throw ArchiveError(.corrupted, "key that is no string", offset: try list.offset(of: key))
                }
                try budget.spend(bytes: name.utf8.count)
                do throws(ArchiveError) {
                    let value = try value(list.value(found, index), depth: depth + 1)
                    fields.append(PropertyListValue.Field(key: name, value: value))
                } catch {
                    throw error.within(name)
                }
            }
            return .dictionary(fields)
        }
    }

    private func members(
        _ run: BinaryPropertyList.References,
        depth: Int
    ) throws(ArchiveError) -> [PropertyListContent.Value] {
        var members: [PropertyListContent.Value] = []
        for index in 0..<run.count {
            members.append(try value(list.element(run, index), depth: depth + 1))
        }
        return members
    }
}

private struct PropertyListContentWriter: ~Copyable {
    private var builder = PropertyListBuilder()

    mutating func list(of value: PropertyListContent.Value) throws(ArchiveError) -> [UInt8] {
        let top = try add(value, depth: 0)
        return builder.finish(top: top)
    }

    private mutating func add(
        _ value: PropertyListContent.Value,
        depth: Int
    ) throws(ArchiveError) -> PropertyListBuilder.Reference {
        guard depth <= XMLPropertyList.depthLimit else {
            throw ArchiveError(.limitExceeded, "containers nest more than \(XMLPropertyList.depthLimit) deep")
        }
        switch value {
        case .null: return builder.list.addNull()
        case .bool(let value): return builder.list.add(value)
        case .integer(let value): return builder.list.add(value)
        case .unsigned(let value): return builder.list.add(value)
        case .float(let value): return builder.list.add(value)
        case .real(let value): return builder.list.add(value)
        case .string(let value): return builder.add(value)
        case .data(let value): return builder.add(value)
        case .date(let value): return builder.list.add(date: value.timeIntervalSinceReferenceDate)
        case .reference(let place):
            guard let uid = UInt32(exactly: place) else {
                throw ArchiveError(.outOfRange, "a reference that no archive can hold")
            }
            return builder.list.add(uid: uid)
        case .array(let values): return builder.add(array: try members(values, depth: depth))
        case .set(let values): return builder.add(set: try members(values, depth: depth))
        case .dictionary(let fields):
            var entries: [KeyedReference] = []
            for field in fields {
                let key = builder.add(field.key)
                entries.append(KeyedReference(key: key, value: try add(field.value, depth: depth + 1)))
            }
            return builder.add(dictionary: entries)
        }
    }

    private mutating func members(
        _ values: [PropertyListContent.Value],
        depth: Int
    ) throws(ArchiveError) -> [PropertyListBuilder.Reference] {
        var members: [PropertyListBuilder.Reference] = []
        for value in values { members.append(try add(value, depth: depth + 1)) }
        return members
    }
}

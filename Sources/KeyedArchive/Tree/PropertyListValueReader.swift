import Foundation

/// Reads an archive's values as ``PropertyListValue``s, each checked, and counted against a budget.
protocol PropertyListValueReader {
    associatedtype Reference

    /// How deep lists may nest in lists: each level takes stack that no other check limits.
    static var depthLimit: Int { get }
    /// Whether errors name the keys under which they came up.
    static var locatesErrors: Bool { get }

    var source: ArchiveSource { get }
    var budget: DecodingBudget { get }

    /// The stand-in for the object in a place.
    func reference(to uid: UInt32, at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Reference
    func data(in range: Range<Int>) -> Data
}

extension PropertyListValueReader {
    /// The fields of an object, of the outermost scope, or of a dictionary of the property list.
    ///
    /// - Parameter omitted: a key that is left out.
    func fields(
        _ found: BinaryPropertyList.Fields,
        depth: Int = 0,
        without omitted: String? = nil
    ) throws(ArchiveError) -> [PropertyListValue<Reference>.Field] {
        var fields: [PropertyListValue<Reference>.Field] = []
        try budget.spend(found.count)
        fields.reserveCapacity(found.count)
        for index in 0..<found.count {
            let key = source.list.key(found, index)
            guard let name = try source.list.string(key) else { throw source.keyWithoutText(key) }
            try budget.spend(name.utf8.count + 1)
            if name == omitted { continue }
            do throws(ArchiveError) {
                let value = try value(source.list.value(found, index), depth: depth)
                fields.append(PropertyListValue.Field(key: name, value: value))
            } catch {
                throw Self.locatesErrors ? error.within(name) : error
            }
        }
        return fields
    }

    /// The value of a property-list object.
    func value(
        _ reference: BinaryPropertyList.Reference,
        depth: Int = 0
    ) throws(ArchiveError) -> PropertyListValue<Reference> {
        try budget.spend(1)
        guard depth < Self.depthLimit else { throw source.listsTooDeep(limit: Self.depthLimit) }
        try NestingLimit.checkStack(at: depth)
        switch try source.list.object(reference) {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .real(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let range):
            try budget.spend(range.count)
            return .data(data(in: range))
        case .ascii(let range):
            try budget.spend(range.count)
            return .string(try source.list.string(ascii: range))
        case .utf16(let range):
            try budget.spend(range.count)
            return .string(try source.list.string(utf16: range))
        case .uid(let uid): return .reference(try self.reference(to: uid, at: reference))
        case .array(let run): return .array(try members(run, depth: depth))
        case .set(let run): return .set(try members(run, depth: depth))
        case .dictionary(let found): return .dictionary(try fields(found, depth: depth + 1))
        }
    }

    private func members(
        _ run: BinaryPropertyList.References,
        depth: Int
    ) throws(ArchiveError) -> [PropertyListValue<Reference>] {
        var members: [PropertyListValue<Reference>] = []
        for index in 0..<run.count {
            members.append(try value(source.list.element(run, index), depth: depth + 1))
        }
        return members
    }
}

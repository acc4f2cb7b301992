import Foundation

extension KeyedUnarchiver {
    /// Archives hardly ever hold lists in lists, and each level takes stack that no other check limits.
    private static let depthLimit = 16

    /// Makes an object of a class that is not among those expected.
    func archivedObject(
        _ uid: UInt32,
        _ found: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchivedObject {
        let description = try classes.description(classes.uid(of: found, at: reference, in: source), in: source)
        let object = ArchivedObject(describedClass: description)
        // Known before its fields are, so that they may lead back to it.
        objects.note(object, in: uid)
        object.fields = try keptFields(found, depth: 0, without: "$class")
        return object
    }

    // MARK: Values

    private func keptFields(
        _ found: BinaryPropertyList.Fields,
        depth: Int,
        without left: String? = nil
    ) throws(ArchiveError) -> [ArchivedObject.Field] {
        var fields: [ArchivedObject.Field] = []
        for index in 0..<found.count {
            let key = source.list.key(found, index)
            guard let name = try source.list.string(key) else {
                throw ArchiveError(.corrupted, "key that is no string", offset: try source.list.offset(of: key))
            }
            try budget.spend(name.utf8.count + 1)
            if name == left { continue }
            do throws(ArchiveError) {
                let value = try keptValue(source.list.value(found, index), depth: depth)
                fields.append(ArchivedObject.Field(key: name, value: value))
            } catch {
                throw error.within(name)
            }
        }
        return fields
    }

    private func keptValue(
        _ reference: BinaryPropertyList.Reference,
        depth: Int
    ) throws(ArchiveError) -> ArchivedObject.Value {
        try budget.spend(1)
        guard depth < Self.depthLimit else {
            throw ArchiveError(.limitExceeded, "lists nest more than \(Self.depthLimit) deep")
        }
        switch try source.list.object(reference) {
        case .uid(let uid): return .object(try keptObject(uid, at: reference))
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .real(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let range):
            try budget.spend(range.count)
            return .data(source.list.bytes.data(in: range))
        case .ascii(let range):
            try budget.spend(range.count)
            return .string(try source.list.string(ascii: range))
        case .utf16(let range):
            try budget.spend(range.count)
            return .string(try source.list.string(utf16: range))
        case .array(let run): return .array(try keptMembers(run, depth: depth))
        case .set(let run): return .set(try keptMembers(run, depth: depth))
        case .dictionary(let found): return .dictionary(try keptFields(found, depth: depth + 1))
        case .null: return .null
        }
    }

    private func keptMembers(
        _ run: BinaryPropertyList.References,
        depth: Int
    ) throws(ArchiveError) -> [ArchivedObject.Value] {
        var members: [ArchivedObject.Value] = []
        for index in 0..<run.count {
            members.append(try keptValue(source.list.element(run, index), depth: depth + 1))
        }
        return members
    }

    private func keptObject(
        _ uid: UInt32,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any? {
        if try source.resolve(reference) == nil { return nil }
        if let object = try object(uid) { return object }
        // Kept as nil, it would be gone from the archive that this object is written to.
        if let error = error as? ArchiveError { throw error }
        throw refusal(of: "what an object of an unknown class refers to", reference)
    }
}

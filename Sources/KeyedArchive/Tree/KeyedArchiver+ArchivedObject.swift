import Foundation

extension KeyedArchiver {
    /// The property-list object of a field's value; anything after an error.
    func reference(to value: ArchivedObject.Value, depth: Int = 0) -> ArchiveWriter.Reference {
        let limit = UnknownObjectReader.depthLimit
        guard depth < limit else {
            record(ArchiveError(.limitExceeded, "lists nest more than \(limit) deep"))
            return 0
        }
        switch value {
        case .reference(let object):
            let uid = object.map { self.uid(of: $0) } ?? 0
            return hasFailed ? 0 : writer.reference(to: uid)
        case .bool(let value): return writer.scalar(value)
        case .integer(let value): return writer.scalar(value)
        case .unsigned(let value): return writer.scalar(value)
        case .float(let value): return writer.scalar(value)
        case .real(let value): return writer.scalar(value)
        case .string(let value): return writer.string(value)
        case .data(let value): return value.withUnsafeBytes { writer.scalar($0) }
        case .date(let value): return writer.scalar(date: value.timeIntervalSinceReferenceDate)
        case .array(let members):
            return writer.array(of: members.map { reference(to: $0, depth: depth + 1) })
        case .set(let members):
            return writer.set(of: members.map { reference(to: $0, depth: depth + 1) })
        case .dictionary(let fields):
            return writer.dictionary(of: fields.map { ($0.key, reference(to: $0.value, depth: depth + 1)) })
        case .null: return writer.null()
        }
    }
}

import KeyedArchive

extension RecordValue {
    /// A value of an archive that holds no others; null for all else.
    init(_ scalar: ArchiveTree.Value) {
        self =
            switch scalar {
            case .bool(let value): .bool(value)
            case .integer(let value): .int(value)
            case .unsigned(let value): .uint(value)
            case .float(let value): .double(Double(value))
            case .real(let value): .double(value)
            case .string(let value): .string(value)
            case .data(let value): .data(value)
            case .date(let value): .date(value)
            case .null, .array, .set, .dictionary, .reference: .null
            }
    }
}

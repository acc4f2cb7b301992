/// Reads the key of a record from one of its fields.
struct RecordKey {
    /// The longest key that a cache takes, in UTF-8 bytes.
    static let longest = 1_024

    let field: String

    /// The key of `record`: a string as it is, a whole number in decimal.
    func key(of record: Record) throws(BadRecordReason) -> String {
        let key: String
        switch record[field] {
        case .string(let text): key = text
        case .int(let number): key = String(number)
        case .uint(let number): key = String(number)
        case nil: throw .missingKey(field: field)
        case let other?: throw .unfitKey(field: field, found: RecordKind(other))
        }
        let count = key.utf8.count
        guard count > 0 else { throw .emptyKey(field: field) }
        guard count <= Self.longest else { throw .longKey(field: field, bytes: count, limit: Self.longest) }
        return key
    }
}

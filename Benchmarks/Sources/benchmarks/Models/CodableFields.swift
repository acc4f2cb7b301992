/// Fifty numbers, for the coders that take Codable values.
struct CodableFields: Encodable {
    let values: [Double]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        for (key, value) in zip(FiftyFields.keys, values) {
            try container.encode(value, forKey: FieldKey(stringValue: key))
        }
    }

    /// Decodes those that are asked for.
    static func values(of keys: [String], in decoder: any Decoder) throws -> [Double] {
        let container = try decoder.container(keyedBy: FieldKey.self)
        return try keys.map { try container.decode(Double.self, forKey: FieldKey(stringValue: $0)) }
    }
}

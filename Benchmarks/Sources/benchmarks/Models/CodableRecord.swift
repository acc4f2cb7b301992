import Foundation

/// Fifty fields of many kinds, for the coders that take Codable values.
struct CodableRecord: Encodable {
    let fields: [(key: String, value: RecordField)]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        for (name, value) in fields {
            let key = FieldKey(stringValue: name)
            switch value {
            case .text(let text): try container.encode(text, forKey: key)
            case .date(let date): try container.encode(date, forKey: key)
            case .link(let url): try container.encode(url, forKey: key)
            case .count(let count): try container.encode(count, forKey: key)
            case .amount(let amount): try container.encode(amount, forKey: key)
            case .flag(let flag): try container.encode(flag, forKey: key)
            case .tags(let tags): try container.encode(tags, forKey: key)
            case .place(let coordinate): try container.encode(coordinate, forKey: key)
            }
        }
    }

    /// Decodes those that are asked for.
    static func decode(
        _ fields: [(key: String, value: RecordField)],
        from decoder: any Decoder
    ) throws -> [RecordField] {
        let container = try decoder.container(keyedBy: FieldKey.self)
        return try fields.map { name, kind in
            let key = FieldKey(stringValue: name)
            return switch kind {
            case .text: .text(try container.decode(String.self, forKey: key))
            case .date: .date(try container.decode(Date.self, forKey: key))
            case .link: .link(try container.decode(URL.self, forKey: key))
            case .count: .count(try container.decode(Int.self, forKey: key))
            case .amount: .amount(try container.decode(Double.self, forKey: key))
            case .flag: .flag(try container.decode(Bool.self, forKey: key))
            case .tags: .tags(try container.decode([String].self, forKey: key))
            case .place: .place(try container.decode(Coordinate.self, forKey: key))
            }
        }
    }
}

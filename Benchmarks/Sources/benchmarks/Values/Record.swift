import Foundation

/// Fifty fields of many kinds, all of which are read again.
class Record: NSObject, NSCoding {
    let fields: [(key: String, value: RecordField)]

    init(fields: [(key: String, value: RecordField)]) { self.fields = fields }

    class var fieldsToRead: [(key: String, value: RecordField)] { RecordField.sample }

    required init?(coder: NSCoder) {
        var fields: [(key: String, value: RecordField)] = []
        fields.reserveCapacity(Self.fieldsToRead.count)
        for (key, kind) in Self.fieldsToRead {
            guard let value = Self.value(of: key, like: kind, in: coder) else { return nil }
            fields.append((key, value))
        }
        self.fields = fields
    }

    private static func value(of key: String, like kind: RecordField, in coder: NSCoder) -> RecordField? {
        switch kind {
        case .text: (coder.decodeObject(forKey: key) as? String).map(RecordField.text)
        case .date: (coder.decodeObject(forKey: key) as? Date).map(RecordField.date)
        case .link: (coder.decodeObject(forKey: key) as? URL).map(RecordField.link)
        case .count: .count(coder.decodeInteger(forKey: key))
        case .amount: .amount(coder.decodeDouble(forKey: key))
        case .flag: .flag(coder.decodeBool(forKey: key))
        case .tags: (coder.decodeObject(forKey: key) as? [String]).map(RecordField.tags)
        case .place:
            (coder.decodeObject(forKey: key) as? EncodableCoordinate)?.coordinate.map(RecordField.place)
        }
    }

    func encode(with coder: NSCoder) {
        for (key, value) in fields {
            switch value {
            case .text(let text): coder.encode(text, forKey: key)
            case .date(let date): coder.encode(date, forKey: key)
            case .link(let url): coder.encode(url, forKey: key)
            case .count(let count): coder.encode(count, forKey: key)
            case .amount(let amount): coder.encode(amount, forKey: key)
            case .flag(let flag): coder.encode(flag, forKey: key)
            case .tags(let tags): coder.encode(tags, forKey: key)
            case .place(let coordinate): coder.encode(EncodableCoordinate(coordinate), forKey: key)
            }
        }
    }
}

/// Fifty fields of many kinds, three of which are read again.
final class ThreeFieldsRecord: Record {
    override class var fieldsToRead: [(key: String, value: RecordField)] { RecordField.some }
}

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

    /// Decodes some fields.
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

/// All of the fifty fields, decoded.
struct AllRecordFields: Decodable {
    let values: [RecordField]

    init(from decoder: any Decoder) throws {
        values = try CodableRecord.decode(RecordField.sample, from: decoder)
    }
}

/// Three of the fifty fields, decoded.
struct ThreeRecordFields: Decodable {
    let values: [RecordField]

    init(from decoder: any Decoder) throws {
        values = try CodableRecord.decode(RecordField.some, from: decoder)
    }
}

/// A field of a record as apps have them.
enum RecordField {
    case text(String)
    case date(Date)
    case link(URL)
    case count(Int)
    case amount(Double)
    case flag(Bool)
    case tags([String])
    case place(Coordinate)

    /// Fifty fields of an advertisement, say: 18 texts, 6 dates, 5 links, 8 counts, 4 amounts, 4 flags, 3 lists of
    /// texts and 2 objects, in no particular order.
    static let sample: [(key: String, value: RecordField)] = [
        ("identifier", .text("b1f6c9e2-7d40-4f5e-9c3a-5f1f0a6d2e11")),
        ("title", .text("House by the lake, with a boat")),
        ("subtitle", .text("Six rooms, two floors, quiet at night")),
        ("createdAt", .date(day(1))),
        ("updatedAt", .date(day(2))),
        ("publishedAt", .date(day(3))),
        ("summary", .text("It was built in 1926, and its garden reaches down to the water.")),
        ("text", .text(String(repeating: "From the terrace one sees the ferry come in. ", count: 4))),
        ("language", .text("de-DE")),
        ("page", .link(link("/listings/4711"))),
        ("image", .link(link("/images/4711/large.jpg"))),
        ("thumbnail", .link(link("/images/4711/small.jpg"))),
        ("views", .count(48_213)),
        ("likes", .count(377)),
        ("rooms", .count(6)),
        ("floors", .count(2)),
        ("price", .amount(1_249_000.5)),
        ("area", .amount(187.25)),
        ("garden", .amount(912.4)),
        ("isFeatured", .flag(true)),
        ("isSold", .flag(false)),
        ("tags", .tags(["lake", "garden", "boat"])),
        ("equipment", .tags(["stove", "cellar", "sauna", "garage"])),
        ("location", .place(Coordinate(latitude: 52.42183, longitude: 13.17842))),
        ("city", .text("Berlin")),
        ("district", .text("Wannsee")),
        ("street", .text("Am Sandwerder")),
        ("houseNumber", .text("17b")),
        ("postalCode", .text("14109")),
        ("country", .text("Germany")),
        ("sellerName", .text("Margarete Lindqvist")),
        ("sellerMail", .text("margarete@example.org")),
        ("sellerPhone", .text("+49 30 5550 0123")),
        ("sellerPage", .link(link("/sellers/88"))),
        ("sellerImage", .link(link("/sellers/88/portrait.jpg"))),
        ("sellerSince", .date(day(4))),
        ("sellerRating", .amount(4.7)),
        ("sellerSales", .count(31)),
        ("isVerified", .flag(true)),
        ("office", .place(Coordinate(latitude: 52.50011, longitude: 13.32004))),
        ("contactHours", .tags(["Mon 9-17", "Wed 9-17", "Fri 9-12"])),
        ("revision", .count(12)),
        ("commentCount", .count(9)),
        ("lastComment", .text("Is it still to be had?")),
        ("lastCommentAt", .date(day(5))),
        ("currency", .text("EUR")),
        ("energyClass", .text("D")),
        ("yearBuilt", .count(1926)),
        ("availableFrom", .date(day(6))),
        ("isArchived", .flag(false)),
    ]

    /// Three of them, from all over, as a list of search results shows them.
    static let some = sample.filter { ["title", "rooms", "lastCommentAt"].contains($0.key) }

    private static func day(_ number: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: 780_000_000 + Double(number) * 86_437.25)
    }

    private static func link(_ path: String) -> URL {
        URL(string: "https://example.org\(path)") ?? URL(filePath: path)
    }
}

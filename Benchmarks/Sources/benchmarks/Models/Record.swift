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

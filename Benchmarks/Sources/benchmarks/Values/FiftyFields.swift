import Foundation

/// Fifty numbers under keys of their own, all of which are read again.
class FiftyFields: NSObject, NSCoding {
    static let keys = (0..<50).map { "field\($0)" }
    /// Three of the keys, from all over.
    static let someKeys = [keys[3], keys[24], keys[47]]
    static let sample = (0..<50).map { Double($0) * 1.25 + 0.5 }

    let values: [Double]

    init(values: [Double]) { self.values = values }

    required init?(coder: NSCoder) {
        values = Self.keysToRead.map { coder.decodeDouble(forKey: $0) }
    }

    class var keysToRead: [String] { keys }

    func encode(with coder: NSCoder) {
        for (key, value) in zip(Self.keys, values) { coder.encode(value, forKey: key) }
    }
}

/// Fifty numbers, three of which are read again.
final class ThreeOfFiftyFields: FiftyFields {
    override class var keysToRead: [String] { someKeys }
}

/// Fifty numbers, for the coders that take Codable values.
struct CodableFields: Encodable {
    let values: [Double]

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        for (key, value) in zip(FiftyFields.keys, values) {
            try container.encode(value, forKey: FieldKey(stringValue: key))
        }
    }

    /// Decodes the numbers for some keys.
    static func values(of keys: [String], in decoder: any Decoder) throws -> [Double] {
        let container = try decoder.container(keyedBy: FieldKey.self)
        return try keys.map { try container.decode(Double.self, forKey: FieldKey(stringValue: $0)) }
    }
}

/// All of the fifty numbers, decoded.
struct AllCodableFields: Decodable {
    let values: [Double]

    init(from decoder: any Decoder) throws {
        values = try CodableFields.values(of: FiftyFields.keys, in: decoder)
    }
}

/// Three of the fifty numbers, decoded.
struct ThreeCodableFields: Decodable {
    let values: [Double]

    init(from decoder: any Decoder) throws {
        values = try CodableFields.values(of: FiftyFields.someKeys, in: decoder)
    }
}

/// A key of any name.
struct FieldKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

import Foundation

/// Encodes and decodes `Codable` values as property lists: Foundation's `PropertyListEncoder` and
/// `PropertyListDecoder`, with the same form of values and the same kinds of errors.
///
/// A `nil` that is encoded is the string `$null`, as in Foundation.
public struct PropertyListCoder: Sendable {
    /// The format that is written. Foundation's encoder, too, begins with the binary one.
    public var outputFormat: PropertyListFormat
    /// Handed to each value's `encode(to:)` and `init(from:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The bounds of lists that are decoded; no list of more values is encoded.
    public var limits: PropertyListLimits

    /// Makes a coder, for the binary format unless another is given.
    public init(outputFormat: PropertyListFormat = .binary, limits: PropertyListLimits = PropertyListLimits()) {
        self.outputFormat = outputFormat
        self.limits = limits
    }

    /// Encodes a value that has a container: an array or a dictionary.
    ///
    /// - Throws: `EncodingError.invalidValue` for a value that encodes nothing, or as a number, string, date or data
    ///   alone, asks for two kinds of containers, has no form in the format, such as a date that is not a number, or has more
    ///   values than ``limits`` allows, or more containers in each other than 512 or than this thread's stack has room
    ///   for; and the errors of the value's own `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        do {
            return try encoded(value)
        } catch let error as PropertyListError {
            throw error.encodingError(of: value, at: [])
        }
    }

    private func encoded<Value: Encodable>(_ value: Value) throws -> Data {
        let state = EncodingState(limits, userInfo: userInfo)
        defer { state.end() }
        let place = EncodingPlace(state, slot: try state.append(Node(.null, offset: 0)), parent: nil, key: nil)
        guard try place.encode(value) else {
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: [], debugDescription: "Top-level \(Value.self) did not encode any values.")
            )
        }
        if let path = state.refused {
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: path, debugDescription: "A value asked for two kinds of containers.")
            )
        }
        guard state.builder.nodes[0].isContainer else {
            throw EncodingError.invalidValue(
                value,
                .init(
                    codingPath: [],
                    debugDescription: "Top-level \(Value.self) encoded as property list fragment."
                )
            )
        }
        return try state.table(outputFormat).written(as: outputFormat)
    }

    /// Decodes a value from a property list of any format.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the data is not a property list, or exceeds ``limits`` or this thread's
    ///   stack, with the ``PropertyListError`` as the underlying one; the other kinds of `DecodingError`, each with its coding path, for a list that does not fit.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        var format = PropertyListFormat.binary
        return try decode(type, from: data, format: &format)
    }

    /// Decodes a value from a property list, and says which format that has.
    ///
    /// - Throws: as ``decode(_:from:)``.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        format: inout PropertyListFormat
    ) throws -> Value {
        let table: NodeTable
        do throws(PropertyListError) {
            table = try NodeTable.read([UInt8](data), limits: limits)
        } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: [],
                    debugDescription: "The given data was not a valid property list.",
                    underlyingError: error
                )
            )
        }
        format = table.format
        let place = DecodingPlace(table, userInfo, node: NodeTable.root, parent: nil, key: nil)
        return try place.decode(type)
    }
}

/// A key of an array's member, or that of a superclass.
struct PropertyListKey: CodingKey {
    private let name: String?
    let intValue: Int?

    /// Made when asked for: most members of an array are encoded without an error.
    var stringValue: String { name ?? intValue.map { "Index \($0)" } ?? "" }

    init(stringValue: String) { (name, intValue) = (stringValue, nil) }
    init(intValue: Int) { (name, self.intValue) = (nil, intValue) }
    static let superclass = PropertyListKey(stringValue: "super")
}

import Foundation

/// The way to a value in an answer: names of members as the server writes them, whatever the decoder's
/// `keyDecodingStrategy`.
///
/// A text is a member of the whole body, and an array of texts leads into members of members.
public struct MemberPath: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The names, from the whole body on; none for the whole body.
    public let names: [String]
    /// Whether the value, or a member on the way to it, may be absent.
    public let isOptional: Bool

    init(_ names: [String], isOptional: Bool) {
        self.names = names
        self.isOptional = isOptional
    }

    /// The path to a value that must be there.
    ///
    /// - Parameter names: from the whole body on.
    public init(_ names: String...) { self.init(names, isOptional: false) }
    /// The path to one member of the whole body.
    public init(stringLiteral name: String) { self.init([name], isOptional: false) }
    /// The path through members, from the whole body on.
    public init(arrayLiteral names: String...) { self.init(names, isOptional: false) }

    /// A value that may be absent, which counts as null.
    ///
    /// - Parameter names: from the whole body on. A misspelt one is always absent.
    public static func optional(_ names: String...) -> MemberPath { MemberPath(names, isOptional: true) }
}

/// A path with the names that a decoder's containers are asked with.
struct AskedPath: Sendable {
    private let path: MemberPath
    private let asked: [String]

    /// - Parameter decoder: where its strategy is the program's own, it gets one that converts no name on the way; snake case
    ///   is converted here as there.
    init(_ path: MemberPath, of decoder: JSONDecoder) {
        self.path = path
        switch decoder.keyDecodingStrategy {
        case .convertFromSnakeCase: asked = path.names.map(JSONSettings.camelCase)
        case .custom(let convert):
            let depth = path.names.count
            decoder.keyDecodingStrategy = .custom { keys in
                keys.count <= depth ? keys.last ?? convert(keys) : convert(keys)
            }
            asked = path.names
        default: asked = path.names
        }
    }

    /// Decodes the value at the path.
    ///
    /// - Returns: `nil` if it, or an object on the way, is absent and may be, or is null.
    fileprivate func decodeIfPresent<Value: Decodable>(
        _ type: Value.Type,
        from decoder: any Decoder
    ) throws -> Value? {
        guard let (container, name) = try lastObject(in: decoder) else { return nil }
        return try container.decodeIfPresent(type, forKey: name)
    }

    fileprivate func decode<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        guard let (container, name) = try lastObject(in: decoder) else {
            return try decoder.singleValueContainer().decode(type)
        }
        return try container.decode(type, forKey: name)
    }

    /// The object that has the value, and the value's name there.
    private func lastObject(
        in decoder: any Decoder
    ) throws -> (container: KeyedDecodingContainer<MemberName>, name: MemberName)? {
        var container = try decoder.container(keyedBy: MemberName.self)
        for (index, name) in asked.enumerated() {
            let key = MemberName(stringValue: name)
            guard container.contains(key) else {
                if path.isOptional { return nil }
                throw missing(at: index, of: container.codingPath)
            }
            if index == asked.count - 1 { return (container, key) }
            if path.isOptional, try container.decodeNil(forKey: key) { return nil }
            container = try container.nestedContainer(keyedBy: MemberName.self, forKey: key)
        }
        return nil
    }

    /// The error for an absent member, by the name that the server would write.
    private func missing(at index: Int, of place: [any CodingKey]) -> DecodingError {
        let name = path.names[index]
        let words = "There is no \(name). Where the server leaves it out, the path is .optional."
        return .keyNotFound(
            MemberName(stringValue: name),
            DecodingError.Context(codingPath: place, debugDescription: words)
        )
    }
}

extension CodingUserInfoKey {
    // The name is not empty, so it is a key.
    static let memberPath = CodingUserInfoKey(rawValue: "ModelCache.memberPath").unsafelyUnwrapped
}

private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    fileprivate var askedPath: AskedPath {
        userInfo[.memberPath] as? AskedPath ?? AskedPath([], of: JSONDecoder())
    }
}

/// A value inside objects of JSON, at the path that the decoder is given.
struct Member<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws { value = try decoder.askedPath.decode(Value.self, from: decoder) }
}

/// The same for a value that may be null, and absent if its path is optional.
struct OptionalMember<Value: Decodable>: Decodable {
    let value: Value?

    init(from decoder: any Decoder) throws {
        value = try decoder.askedPath.decodeIfPresent(Value.self, from: decoder)
    }
}

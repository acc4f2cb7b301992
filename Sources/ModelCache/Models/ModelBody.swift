import Foundation

/// The body of an answer, to be decoded.
///
/// Models that links hold in it are kept as models of their own.
public struct ModelBody: Sendable {
    /// The bytes as the server sent them.
    public let data: Data
    /// The answer's headers.
    public let headers: ModelHeaders
    /// Where the page before ended, for a page of a list.
    public let cursor: PageCursor?
    let nested = NestedModels()
    private let makeDecoder: @Sendable () -> JSONDecoder

    init(
        _ response: ModelResponse,
        after cursor: PageCursor? = nil,
        decoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.cursor = cursor
        data = response.body
        headers = response.headers
        makeDecoder = decoder
    }

    /// Decodes any type from JSON.
    ///
    /// - Parameters:
    ///   - type: the value's type.
    ///   - path: names of members on the way from the whole body to the value; none for the whole body.
    /// - Throws: `DecodingError`.
    public func decode<Value: Decodable>(_ type: Value.Type, at path: String...) throws -> Value {
        try decode(type, at: path)
    }

    /// Decodes one model from JSON. All else is as for other types.
    public func model<Model: CachedModel>(_ type: Model.Type, at path: String...) throws -> Model {
        try decode(type, at: path)
    }

    /// Decodes an array of models from JSON. All else is as for other types.
    public func models<Model: CachedModel>(_ type: Model.Type, at path: String...) throws -> [Model] {
        try decode([Model].self, at: path)
    }

    /// Decodes a page of a list from JSON.
    ///
    /// - Parameters:
    ///   - items: the member with the elements; `nil`: the whole body is the array.
    ///   - next: the member with the cursor of the next page, a string or a whole number; absent or null on the last
    ///     page.
    /// - Throws: `DecodingError`.
    public func page<Element: CachedModel>(items: String? = nil, next: String? = nil) throws -> Page<Element> {
        let elements = try decode([Element].self, at: items.map { [$0] } ?? [])
        guard let next else { return Page(elements) }
        return Page(elements, next: try decode(OptionalMember<PageCursor>.self, at: [next]).value)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, at path: [String]) throws -> Value {
        guard !path.isEmpty else { return try decode(type, [:]) }
        return try decode(Member<Value>.self, [.memberPath: MemberPath(names: path)]).value
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ info: [CodingUserInfoKey: any Sendable]
    ) throws -> Value {
        let decoder = makeDecoder()
        if let value = decodeUsual(type, with: decoder, info) { return value }
        let nested = NestedModels()
        decoder.userInfo.merge(info) { $1 }
        decoder.userInfo[.nestedModels] = nested
        let value = try decoder.decode(type, from: data)
        self.nested.add(nested)
        return value
    }

    /// Decodes without Foundation, in a fourth of its time.
    ///
    /// - Returns: `nil` where the decoder is to decode: unusual JSON, settings of the program, errors.
    private func decodeUsual<Value: Decodable>(
        _ type: Value.Type,
        with decoder: JSONDecoder,
        _ info: [CodingUserInfoKey: any Sendable]
    ) -> Value? {
        guard let settings = JSONSettings(decoder) else { return nil }
        let nested = NestedModels()
        var info: [CodingUserInfoKey: Any] = info
        info.merge(settings.userInfo) { $1 }
        info[.nestedModels] = nested
        guard let value = JSONDocument(data, settings, userInfo: info)?.decode(type) else { return nil }
        self.nested.add(nested)
        return value
    }
}

private struct MemberPath: Sendable { let names: [String] }

extension CodingUserInfoKey {
    // The name is no empty string, so it is a key.
    fileprivate static let memberPath = CodingUserInfoKey(rawValue: "ModelCache.memberPath").unsafelyUnwrapped
}

private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// A value that may be absent or null.
private struct OptionalMember<Value: Decodable>: Decodable {
    let value: Value?

    init(value: Value?) { self.value = value }
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        value = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

/// A value inside objects of JSON, at the path that the decoder is given.
private struct Member<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let path = (decoder.userInfo[.memberPath] as? MemberPath)?.names ?? []
        var container = try decoder.container(keyedBy: MemberName.self)
        for name in path.dropLast() {
            container = try container.nestedContainer(
                keyedBy: MemberName.self,
                forKey: MemberName(stringValue: name)
            )
        }
        let last = MemberName(stringValue: path.last ?? "")
        if !container.contains(last), let absent = Value.self as? any AbsentAllowed.Type,
            let value = absent.absent as? Value
        {
            self.value = value
        } else {
            value = try container.decode(Value.self, forKey: last)
        }
    }
}

private protocol AbsentAllowed { static var absent: Self { get } }
extension OptionalMember: AbsentAllowed {
    static var absent: OptionalMember { OptionalMember(value: nil) }
}

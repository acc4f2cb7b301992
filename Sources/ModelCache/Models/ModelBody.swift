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

    /// A body that did not come by a fetch: the answer to a request of the program's own, or for tests of a type's decoding.
    ///
    /// Models that links hold in it are decoded, and kept by nothing: ``Models/decode(_:from:at:)`` does that.
    ///
    /// - Parameters:
    ///   - data: the bytes as the server sent them.
    ///   - headers: the answer's headers.
    ///   - decoder: as for ``Models/init(account:types:directory:encryption:dataProtection:isExcludedFromBackup:transport:clock:onFailure:decoder:)``.
    public init(
        _ data: Data,
        headers: ModelHeaders = [:],
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.init(ModelResponse(headers: headers, body: data), decoder: decoder)
    }

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
    ///   - path: names of members on the way from the whole body to the value, as the server writes them, whatever
    ///     the decoder's `keyDecodingStrategy`; none for the whole body.
    /// - Throws: `DecodingError`, also where a member is absent.
    public func decode<Value: Decodable>(_ type: Value.Type, at path: String...) throws -> Value {
        try decode(type, at: path)
    }

    /// Decodes any type from JSON; `nil` where the value, or a member on the way to it, is absent or null. All else is as
    /// for a value that is there.
    public func decodeIfPresent<Value: Decodable>(_ type: Value.Type, at path: String...) throws -> Value? {
        try decode(type, at: MemberPath(path, isOptional: true))
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
    /// ```swift
    /// try body.page(items: "items", next: "next_cursor")                     // null on the last page
    /// try body.page(items: "items", next: .optional("next_cursor"))          // left out on the last page
    /// try body.page(items: ["data", "items"], next: ["meta", "next_cursor"])
    /// ```
    ///
    /// - Parameters:
    ///   - items: the member with the elements; `nil`: the whole body is the array.
    ///   - next: the member with the cursor of the next page, a string or a whole number; null on the last page. A server
    ///     that leaves it out there takes ``MemberPath/optional(_:)``: otherwise an absent member is an error, for
    ///     a misspelt name would end each list with its first page.
    ///   - previous: the member with the cursor of the page in front of this one. All else is as for `next`.
    /// - Throws: `DecodingError`.
    public func page<Element: CachedModel>(
        items: MemberPath = [],
        next: MemberPath? = nil,
        previous: MemberPath? = nil
    ) throws -> ModelPage<Element> {
        let elements =
            items.isOptional
            ? try decode([Element].self, at: items) ?? [] : try decode([Element].self, at: items.names)
        return ModelPage(
            elements,
            next: try next.flatMap { try decode(PageCursor.self, at: $0) },
            previous: try previous.flatMap { try decode(PageCursor.self, at: $0) }
        )
    }

    /// Decodes a value that may be null, and may be absent where its path is optional.
    private func decode<Value: Decodable>(_ type: Value.Type, at path: MemberPath) throws -> Value? {
        guard !path.names.isEmpty else { return try decode(Value?.self, at: []) }
        return try decode(OptionalMember<Value>.self, [:], within: path).value
    }

    func decode<Value: Decodable>(_ type: Value.Type, at path: [String]) throws -> Value {
        guard !path.isEmpty else { return try decode(type, [:]) }
        return try decode(Member<Value>.self, [:], within: MemberPath(path, isOptional: false)).value
    }

    /// - Parameter path: the way to the value, for types that ask for it.
    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ info: [CodingUserInfoKey: any Sendable],
        within path: MemberPath? = nil
    ) throws -> Value {
        let decoder = makeDecoder()
        // The program may hand out one decoder again and again.
        let strategy = decoder.keyDecodingStrategy
        defer { if path != nil { decoder.keyDecodingStrategy = strategy } }
        var info = info
        if let path { info[.memberPath] = AskedPath(path, of: decoder) }
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

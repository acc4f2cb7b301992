import Foundation

/// A request for a model or a page of a list, for a ``ModelTransport`` to send.
public struct ModelRequest: Sendable, Hashable {
    /// The method, in capital letters.
    public var method: String
    /// The path below the transport's base, or a whole URL.
    public var path: String
    /// The parameters after the path, in order, not yet escaped.
    public var query: [URLQueryItem]
    /// The headers that the transport sends beside its own. Fetches whose requests have other headers wait for no load of each
    /// other: a header that is another one each time belongs into the transport.
    public var headers: ModelHeaders
    /// The body; empty for none.
    public var body: Data

    /// Makes a request: `GET` without parameters, headers and body, unless they are given.
    public init(
        method: String = "GET",
        path: String,
        query: [URLQueryItem] = [],
        headers: ModelHeaders = [:],
        body: Data = Data()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// A request that reads.
    ///
    /// - Parameters:
    ///   - path: the path below the transport's base, or a whole URL.
    ///   - query: the parameters after it, without the ones that are `nil`.
    ///   - headers: headers besides the transport's own.
    public static func get(
        _ path: String,
        query: KeyValuePairs<String, String?> = [:],
        headers: ModelHeaders = [:]
    ) -> ModelRequest {
        let items = query.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        return ModelRequest(path: path, query: items, headers: headers)
    }

    /// A request that reads the resource of an identity: `.get("/users", id)`, `.get("/users", id, then: "posts")`.
    ///
    /// - Parameters:
    ///   - path: as for a request without an identity.
    ///   - id: one segment after the path. All but ASCII letters, digits, `-`, `_`, `~` and dots is escaped, and so are dots
    ///     where it has nothing else: no identity makes another path or a query. Refuse `.` and `..` where identities come
    ///     from users: some clients and servers take these for directories although they are escaped.
    ///   - more: segments after that, escaped as well.
    ///   - query: the parameters, without the ones that are `nil`.
    ///   - headers: headers besides the transport's own.
    public static func get(
        _ path: String,
        _ id: some ModelID,
        then more: any ModelID...,
        query: KeyValuePairs<String, String?> = [:],
        headers: ModelHeaders = [:]
    ) -> ModelRequest {
        let segments = ([id as any ModelID] + more).map { segment($0.cacheKey) }
        let start = path.hasSuffix("/") ? String(path.dropLast()) : path
        return get(([start] + segments).joined(separator: "/"), query: query, headers: headers)
    }

    /// A text as one segment of a path.
    private static func segment(_ text: String) -> String {
        let isDots = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") }
        return text.utf8.reduce(into: "") { segment, byte in
            let scalar = Unicode.Scalar(byte)
            switch byte {
            case UInt8(ascii: "."): segment += isDots ? "%2E" : "."
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                segment.unicodeScalars.append(scalar)
            default: segment += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }

    /// The resource that is asked for. A validator belongs to one of them.
    ///
    /// Parameters of different names may be in any order: a program that has them from a dictionary has them so.
    var representation: String {
        guard !query.isEmpty else { return "\(method) \(path)" }
        let sorted = query.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
        let parameters = sorted.map { _, item in
            Self.escaped(item.name) + (item.value.map { "=" + Self.escaped($0) } ?? "")
        }
        return "\(method) \(path)?\(parameters.joined(separator: "&"))"
    }

    /// A number that requests of one resource with the same headers have in common; another one in each process.
    var variant: Int {
        var hasher = Hasher()
        hasher.combine(representation)
        hasher.combine(headers)
        return hasher.finalize()
    }

    /// A name or a value without the characters that stand between them.
    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { "%&=".utf8.contains($0) }) else { return text }
        return text.replacing("%", with: "%25").replacing("&", with: "%26").replacing("=", with: "%3D")
    }

    private static let conditions = [
        "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "range",
    ]

    /// Whether the program has set a condition itself, or asks for a part.
    var hasCondition: Bool { Self.conditions.contains { headers[$0] != nil } }

    /// The request without the headers that let a server answer "not modified".
    var unconditional: ModelRequest {
        var request = self
        request.headers["if-none-match"] = nil
        request.headers["if-modified-since"] = nil
        return request
    }
}

/// The headers of a request or an answer. Names are compared without regard to case.
public struct ModelHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var values: [String: String] = [:]

    /// Makes headers of names and values; values of one name are joined by commas, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(value, for: name) }
    }

    /// Makes headers of names and values.
    ///
    /// - Parameter headers: names and values; values of one name are joined by commas, in order.
    public init(_ headers: some Sequence<(String, String)>) {
        for (name, value) in headers { append(value, for: name) }
    }

    /// The value of a header; `nil` if it is not there.
    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }

    /// Adds a value after the header's present values.
    public mutating func append(_ value: String, for name: String) {
        let name = name.lowercased()
        if values[name]?.append(", \(value)") == nil { values[name] = value }
    }

    /// Names in lower case and values, in no order.
    public var all: [String: String] { values }
}

/// A server's answer.
public struct ModelResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The headers of the answer.
    public var headers: ModelHeaders
    /// The body; empty for none.
    public var body: Data

    /// Makes an answer: status 200 without headers and body, unless they are given.
    public init(status: Int = 200, headers: ModelHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The connection of a ``Models`` to its server.
///
/// ```swift
/// struct Transport: ModelTransport {
///     func send(_ request: ModelRequest) async throws -> ModelResponse { … }
/// }
/// ```
///
/// It must not keep answers itself, nor follow cache headers. Product `ModelCacheHTTP` has one over URLSession.
public protocol ModelTransport: Sendable {
    /// Sends a request and returns the answer, whatever its status.
    ///
    /// - Throws: where there is no answer: no connection, a timeout, cancellation. A client that throws for a status takes
    ///   ``ModelResponseError``, which counts as the answer in it.
    func send(_ request: ModelRequest) async throws -> ModelResponse
}

/// An answer that a transport throws, because its client throws for statuses: the cache takes it for the answer.
///
/// With any other error there is no answer, and a stale value may be shown in place of a refusal.
public struct ModelResponseError: Error, Sendable {
    /// The answer.
    public let response: ModelResponse
    /// The client's own error, which the cache's error has as its `cause`.
    public let cause: (any Error)?

    /// Makes the error of an answer that a client refused.
    public init(_ response: ModelResponse, cause: (any Error)? = nil) {
        self.response = response
        self.cause = cause
    }
}

import Foundation

/// A request for a model or a page of a list, for a ``ModelTransport`` to send.
public struct ModelRequest: Sendable, Hashable {
    /// The method, in capital letters.
    public var method: String
    /// The path below the transport's base, or a whole URL.
    public var path: String
    /// The parameters behind the path, in order, not yet escaped.
    public var query: [URLQueryItem]
    public var headers: ModelHeaders
    /// The body; empty for none.
    public var body: Data

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
    ///   - query: the parameters behind it; those that are `nil` are left out.
    ///   - headers: headers besides the transport's own.
    public static func get(
        _ path: String,
        query: KeyValuePairs<String, String?> = [:],
        headers: ModelHeaders = [:]
    ) -> ModelRequest {
        let items = query.compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        return ModelRequest(path: path, query: items, headers: headers)
    }

    /// The resource that is asked for. A validator belongs to one of them.
    var representation: String {
        guard !query.isEmpty else { return "\(method) \(path)" }
        let parameters = query.map { "\($0.name)=\($0.value ?? "")" }.sorted().joined(separator: "&")
        return "\(method) \(path)?\(parameters)"
    }
}

/// The headers of a request or an answer. Names are compared without regard to case.
public struct ModelHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private var values: [String: String] = [:]

    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(value, for: name) }
    }

    /// - Parameter headers: names and values; those of one name are joined by commas, in order.
    public init(_ headers: some Sequence<(String, String)>) {
        for (name, value) in headers { append(value, for: name) }
    }

    /// The value of a header; `nil` if it is not there.
    public subscript(name: String) -> String? {
        get { values[name.lowercased()] }
        set { values[name.lowercased()] = newValue }
    }

    /// Adds a value behind those that the header has.
    public mutating func append(_ value: String, for name: String) {
        let name = name.lowercased()
        values[name] = values[name].map { "\($0), \(value)" } ?? value
    }

    /// Names in lower case and values, in no order.
    public var all: [String: String] { values }
}

/// A server's answer.
public struct ModelResponse: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    public var headers: ModelHeaders
    public var body: Data

    public init(status: Int = 200, headers: ModelHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The connection of a ``ModelCache`` to its server.
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
    /// - Throws: where there is no answer: no connection, a timeout, cancellation.
    func send(_ request: ModelRequest) async throws -> ModelResponse
}

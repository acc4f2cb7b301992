import Foundation
import ModelCache
import TypedCache

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The connection of a model cache to a server by HTTP, over a URLSession of its own.
///
/// ```swift
/// let transport = try URLSessionTransport(base: api, headers: ["Authorization": "Bearer \(token)"])
/// let models = try await Models(account: "42", types: [User.self], transport: transport)
/// ```
///
/// It keeps no answers, for `ModelCache` does, and asks no cache of the system: each request goes to the
/// server. It keeps no cookies unless the session is configured to. Redirects are followed, as many as the system allows; to
/// another scheme, host or port without `Authorization`, `Cookie` and `Proxy-Authorization`. On Linux a redirect of a request
/// with a body that is to be sent again (307, 308) is returned as the answer, for URLSession would send it empty. A server that asks for
/// credentials which the session does not have is not waited for: its answer, 401 or 407, is returned as any other.
///
/// The session ends with the object, after the requests that are under way.
public final class URLSessionTransport: ModelTransport {
    private let address: RequestAddress
    private let headers: ModelHeaders
    private let timeout: Duration
    private let session: URLSession
    private let answers: AnswerCollector

    /// Makes a transport with a session of its own, which keeps neither answers nor cookies.
    ///
    /// - Parameters:
    ///   - base: the URL that paths of requests are below, of scheme `http` or `https`; parameters that it has go with
    ///     each request.
    ///   - headers: headers of each request; the request's own headers take their place. A request for a whole URL with
    ///     another scheme, host or port goes without the secret ones: `Authorization`, `Cookie` and
    ///     `Proxy-Authorization`. The cache does not see them: a header that answers vary by, a language say, belongs into
    ///     the request.
    ///   - timeout: how long the server may be silent, before the answer or within it; above zero. A minute by default.
    ///   - answerLimit: the most bytes of an answer's body, unpacked; 64 MiB by default. The request ends as soon as there
    ///     are more.
    ///   - configure: changes the session's configuration before it is made: proxies or cookies, say. A cache that it sets
    ///     is taken away again.
    /// - Throws: ``HTTPTransportError`` with code `.invalidURL` if `base` is not of HTTP or has no host.
    public init(
        base: URL,
        headers: ModelHeaders = [:],
        timeout: Duration = .seconds(60),
        answerLimit: ByteCount = .mebibytes(64),
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws(HTTPTransportError) {
        address = try RequestAddress(base: base)
        self.headers = headers
        // No clock can count much longer ones.
        self.timeout = min(timeout, .seconds(365 * 86_400))
        answers = AnswerCollector(limit: answerLimit.bytes)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configure(configuration)
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// A path that begins with `http://` or `https://` is a whole URL; any other one is below the base. In both, characters
    /// that no URL has are escaped, and escapes and a `?` stay as they are; parameters are escaped whole.
    ///
    /// - Throws: ``HTTPTransportError`` with code `.invalidURL`, `.notHTTP` or `.tooLarge`; `URLError` for a connection that
    ///   failed or timed out, or for too many redirects; `CancellationError` if the task is cancelled, which ends the
    ///   request.
    public func send(_ request: ModelRequest) async throws -> ModelResponse {
        let task = session.dataTask(with: try urlRequest(request))
        answers.expect(task.taskIdentifier)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answers.begin(task, timeout: timeout, continuation)
            }
        } onCancel: {
            answers.end(task, CancellationError())
        }
    }

    /// - Throws: `.invalidURL`.
    private func urlRequest(_ request: ModelRequest) throws(HTTPTransportError) -> URLRequest {
        let (url, isOwn) = try address.url(of: request)
        var sent = URLRequest(
            url: url,
            cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: min(max(timeout / .seconds(1), 1), 86_400)
        )
        sent.httpMethod = request.method
        for (name, value) in headers.all where isOwn || !SecretHeaders.names.contains(name) {
            sent.setValue(value, forHTTPHeaderField: name)
        }
        for (name, value) in request.headers.all { sent.setValue(value, forHTTPHeaderField: name) }
        if !request.body.isEmpty { sent.httpBody = request.body }
        return sent
    }
}

/// Headers that are for one server alone.
enum SecretHeaders {
    /// In lower case.
    static let names: Set<String> = ["authorization", "cookie", "proxy-authorization"]
}

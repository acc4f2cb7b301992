import Foundation
import ModelCache
import Synchronization

/// A server for tests: it gives the answers that were scripted, and keeps the requests.
///
/// ```swift
/// let server = StubTransport()
/// server.answer("/users/1", .json(#"{"id": 1, "name": "Ada"}"#), headers: ["ETag": "\"a\""])
/// ```
///
/// A request whose `If-None-Match` has the answer's `ETag` is answered with 304, as is one whose `If-Modified-Since` has
/// its `Last-Modified`.
public final class StubTransport: ModelTransport {
    /// The body of a scripted answer.
    public struct Body: Sendable {
        let data: Data

        /// Text, of JSON say.
        public static func json(_ text: String) -> Body { Body(data: Data(text.utf8)) }

        /// A value as JSON.
        ///
        /// - Throws: `EncodingError`.
        public static func json(_ value: some Encodable) throws -> Body {
            Body(data: try JSONEncoder().encode(value))
        }

        /// No bytes, for an answer such as 204.
        public static let empty = Body(data: Data())
    }

    /// A request for which no answer was scripted.
    public struct Unscripted: Error, CustomStringConvertible {
        /// The request's path, with its parameters.
        public let path: String
        /// The path, in a sentence.
        public var description: String { "no answer was scripted for \(path)" }
    }

    private enum Answer: Sendable {
        case response(ModelResponse)
        case failure(any Error)
    }

    private struct State {
        var answers: [String: [Answer]] = [:]
        var requests: [ModelRequest] = []
        var responses: [ModelResponse] = []
        var unscripted: [String] = []
        /// Where requests for a path wait.
        var gates: [String: Gate] = [:]
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Makes a server without answers: each request fails with ``Unscripted`` until one is scripted.
    public init() {}

    // MARK: Scripting

    /// Scripts the answer to requests for a path; in place of all that were scripted for it.
    ///
    /// - Parameters:
    ///   - path: with its parameters, `/list?after=2`, or without, for all requests for it.
    ///   - body: the body of the answer.
    ///   - status: its HTTP status.
    ///   - headers: its headers.
    public func answer(_ path: String, _ body: Body, status: Int = 200, headers: ModelHeaders = [:]) {
        let response = ModelResponse(status: status, headers: headers, body: body.data)
        state.withLock { $0.answers[path] = [.response(response)] }
    }

    /// Appends an answer to the script: each answer is given once, the last one repeatedly.
    public func answerNext(_ path: String, _ body: Body, status: Int = 200, headers: ModelHeaders = [:]) {
        let response = ModelResponse(status: status, headers: headers, body: body.data)
        state.withLock { $0.answers[path, default: []].append(.response(response)) }
    }

    /// Has requests for a path fail, as without a connection.
    public func fail(_ path: String, with error: any Error = URLError(.notConnectedToInternet)) {
        state.withLock { $0.answers[path] = [.failure(error)] }
    }

    /// Has requests for a path wait, each with the answer that was scripted when it came, until ``release(_:)`` or
    /// ``releaseWaiting(_:)``.
    public func hold(_ path: String) {
        state.withLock { state in
            if state.gates[path] == nil { state.gates[path] = Gate() }
        }
    }

    /// Answers the requests that have come, and lets later ones pass.
    public func release(_ path: String) { state.withLock { $0.gates.removeValue(forKey: path) }?.open() }

    /// Answers the requests that have come; later ones wait.
    public func releaseWaiting(_ path: String) {
        let former = state.withLock { state in
            defer { state.gates[path] = Gate() }
            return state.gates[path]
        }
        former?.open()
    }

    // MARK: Looking

    /// The requests so far, in order.
    public var requests: [ModelRequest] { state.withLock { $0.requests } }

    /// The answers so far, in the order in which they were given; a request that failed has none.
    public var responses: [ModelResponse] { state.withLock { $0.responses } }

    /// The paths, with their parameters, of requests so far for which no answer was scripted, in order.
    ///
    /// Such a request fails, and a fetch may show a stale value in its place, so a test expects that this is empty.
    public var unscripted: [String] { state.withLock { $0.unscripted } }

    /// Forgets the requests and answers so far.
    public func forgetRequests() {
        state.withLock { state in
            state.requests = []
            state.responses = []
            state.unscripted = []
        }
    }

    /// Suspends until so many requests have come since the last ``forgetRequests()``.
    public func requested(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.requests.count >= count { return true }
                state.arrivals.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    // MARK: Answering

    /// Gives the scripted answer, and waits first while the path is held.
    ///
    /// - Throws: the scripted failure, or ``Unscripted``.
    public func send(_ request: ModelRequest) async throws -> ModelResponse {
        let whole = Self.path(of: request)
        let (gate, answer, arrived) = state.withLock {
            state -> (Gate?, Answer?, [CheckedContinuation<Void, Never>]) in
            state.requests.append(request)
            let count = state.requests.count
            let arrived = state.arrivals.filter { $0.count <= count }.map(\.continuation)
            state.arrivals.removeAll { $0.count <= count }
            let name = state.answers[whole] == nil ? request.path : whole
            let gate = state.gates[name]
            guard let answers = state.answers[name], let first = answers.first else {
                state.unscripted.append(whole)
                return (gate, nil, arrived)
            }
            if answers.count > 1 { state.answers[name]?.removeFirst() }
            return (gate, first, arrived)
        }
        for continuation in arrived { continuation.resume() }
        await gate?.pass()
        try Task.checkCancellation()
        switch answer {
        case nil: throw Unscripted(path: whole)
        case .failure(let error)?: throw error
        case .response(let response)?:
            let given =
                Self.isUnchanged(response, for: request)
                ? ModelResponse(status: 304, headers: response.headers) : response
            state.withLock { $0.responses.append(given) }
            return given
        }
    }

    private static func isUnchanged(_ response: ModelResponse, for request: ModelRequest) -> Bool {
        guard (200..<300).contains(response.status) else { return false }
        if let tag = request.headers["if-none-match"] { return tag == response.headers["etag"] }
        guard let date = request.headers["if-modified-since"] else { return false }
        return date == response.headers["last-modified"]
    }

    private static func path(of request: ModelRequest) -> String {
        guard !request.query.isEmpty else { return request.path }
        return request.path + "?" + request.query.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
    }
}

/// Requests that wait until it is opened, which is once.
private final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

import Foundation
import ModelCache
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Puts the answers of a session's tasks together, each up to a limit.
final class AnswerCollector: NSObject, URLSessionDataDelegate, Sendable {
    private typealias Continuation = CheckedContinuation<ModelResponse, any Error>

    private struct Pending {
        let continuation: Continuation
        /// Ends the task when the server is silent for too long.
        let watch: Task<Void, Never>
        var body = Data()
        /// When the server was last heard.
        var heard = ContinuousClock.now

        func resume(with result: Result<ModelResponse, any Error>) {
            watch.cancel()
            continuation.resume(with: result)
        }
    }

    private struct State {
        /// Tasks that have not begun and were not cancelled.
        var expected: Set<Int> = []
        var pending: [Int: Pending] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    // MARK: Requests

    /// Announces a task.
    func expect(_ task: Int) { state.withLock { _ = $0.expected.insert(task) } }

    /// Begins a task, and has the continuation resumed when it ends. If it was ended already, the continuation is resumed
    /// at once.
    ///
    /// Foundation's own timer does not fire on Linux while an answer is waited for.
    ///
    /// - Parameter timeout: how long the server may be silent.
    func begin(
        _ task: URLSessionTask,
        timeout: Duration,
        _ continuation: CheckedContinuation<ModelResponse, any Error>
    ) {
        let number = task.taskIdentifier
        let mayBegin = state.withLock { state in
            guard state.expected.remove(number) != nil else { return false }
            let watch = Task { [weak self] in
                while let deadline = self?.heard(number)?.advanced(by: timeout) {
                    if ContinuousClock.now >= deadline { self?.end(task, Self.timedOut(after: timeout)) }
                    do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
                }
            }
            state.pending[number] = Pending(continuation: continuation, watch: watch)
            return true
        }
        if mayBegin { task.resume() } else { continuation.resume(throwing: CancellationError()) }
    }

    private func heard(_ task: Int) -> ContinuousClock.Instant? { state.withLock { $0.pending[task]?.heard } }

    /// Ends a task from here. Later calls of the session about it are ignored.
    func end(_ task: URLSessionTask, _ failure: any Error) {
        let pending = state.withLock { state in
            state.expected.remove(task.taskIdentifier)
            return state.pending.removeValue(forKey: task.taskIdentifier)
        }
        pending?.resume(with: .failure(failure))
        task.cancel()
    }

    /// With words: Foundation has none for it on Linux.
    private static func timedOut(after timeout: Duration) -> URLError {
        URLError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "the server was silent for \(timeout)"])
    }

    private var tooLarge: HTTPTransportError {
        HTTPTransportError(.tooLarge, "the answer has more than \(limit) bytes")
    }

    // MARK: Session

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if response.expectedContentLength > Int64(limit) {
            end(dataTask, tooLarge)
            return completionHandler(.cancel)
        }
        state.withLock { $0.pending[dataTask.taskIdentifier]?.heard = .now }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            guard var pending = state.pending.removeValue(forKey: dataTask.taskIdentifier) else { return false }
            let isTooLarge = data.count > limit - pending.body.count
            if !isTooLarge { pending.body.append(data) }
            pending.heard = .now
            state.pending[dataTask.taskIdentifier] = pending
            return isTooLarge
        }
        if isTooLarge { end(dataTask, tooLarge) }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        state.withLock { $0.pending[task.taskIdentifier]?.heard = .now }
        // A URL that is not of HTTP is not followed: the redirect itself is the answer then.
        guard let target = Origin(request.url) else { return completionHandler(nil) }
        #if canImport(FoundationNetworking)
            // A redirect that keeps the method keeps the body, which URLSession does not send again on Linux.
            let hasBody = !["GET", "HEAD"].contains(request.httpMethod ?? "GET")
            if hasBody, [307, 308].contains(response.statusCode) { return completionHandler(nil) }
        #endif
        guard target != Origin(response.url) else { return completionHandler(request) }
        var request = request
        for name in SecretHeaders.names { request.setValue(nil, forHTTPHeaderField: name) }
        completionHandler(request)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let ended = state.withLock { $0.pending.removeValue(forKey: task.taskIdentifier) }
        guard let pending = ended else { return }
        if let error { return pending.resume(with: .failure(error)) }
        guard let response = task.response as? HTTPURLResponse else {
            let failure = HTTPTransportError(.notHTTP, "the server's answer is not HTTP")
            return pending.resume(with: .failure(failure))
        }
        pending.resume(with: .success(ModelResponse(response, body: pending.body)))
    }

    /// The server asks for credentials. The transport has none, so the refusal is the answer.
    ///
    /// Where no credentials are given, URLSession waits on Linux until its time is over. Other challenges, such as the trust
    /// in a server, have no answer of HTTP.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.proposedCredential == nil, let response = challenge.failureResponse as? HTTPURLResponse
        else { return completionHandler(.performDefaultHandling, nil) }
        let pending = state.withLock { $0.pending.removeValue(forKey: task.taskIdentifier) }
        pending?.resume(with: .success(ModelResponse(response, body: pending?.body ?? Data())))
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}

extension ModelResponse {
    fileprivate init(_ response: HTTPURLResponse, body: Data) {
        let headers = response.allHeaderFields.compactMap { name, value -> (String, String)? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return (name, value)
        }
        self.init(status: response.statusCode, headers: ModelHeaders(headers), body: body)
    }
}

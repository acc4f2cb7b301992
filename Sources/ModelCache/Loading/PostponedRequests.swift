import Foundation
import Synchronization

/// Requests that the server wants to have no earlier than at a moment (`Retry-After`), with the error of its answer.
///
/// In memory alone: another launch may ask.
final class PostponedRequests: Sendable {
    private struct Postponed {
        let since: Date
        let until: Date
        let error: ModelCacheError
    }

    /// Requests that are told apart, beyond which the one that may be sent first is forgotten.
    private static let countLimit = 1_024
    /// The longest time that is honoured, in seconds: a server's mistake must not end with the process alone.
    private static let timeLimit: Double = 3_600

    private let state = Mutex<[ModelRequest: Postponed]>([:])

    /// The moment before which an answer wants no further request; `nil` if it does not say.
    static func end(of response: ModelResponse, at now: Date) -> Date? {
        guard let text = response.headers["retry-after"] else { return nil }
        let words = text.trimmingCharacters(in: .whitespaces)
        let isNumber = !words.isEmpty && words.utf8.allSatisfy { (0x30...0x39).contains($0) }
        let seconds =
            isNumber ? Double(words) : HTTPDate.parse(words, now: now).map { $0.timeIntervalSince(now) }
        guard let seconds, seconds > 0 else { return nil }
        return now.addingTimeInterval(min(seconds, timeLimit))
    }

    /// Keeps the error of an answer that says when the request may be sent again.
    func add(_ request: ModelRequest, _ error: ModelCacheError, at now: Date) {
        guard let until = error.retryAt else { return }
        let request = request.unconditional
        state.withLock { state in
            state[request] = Postponed(since: now, until: until, error: error)
            guard state.count > Self.countLimit, let first = state.min(by: { $0.value.until < $1.value.until })
            else { return }
            state[first.key] = nil
        }
    }

    /// Forgets a request that was answered well.
    func remove(_ request: ModelRequest) {
        if state.withLock({ $0.isEmpty }) { return }
        let request = request.unconditional
        state.withLock { $0[request] = nil }
    }

    /// - Throws: a ``LoadFailure``, which was reported, if a request is not to be sent yet.
    func check(_ request: @autoclosure () -> ModelRequest, at now: @autoclosure () -> Date) throws {
        if state.withLock({ $0.isEmpty }) { return }
        let (request, now) = (request().unconditional, now())
        let postponed = state.withLock { state in
            // A clock that was set back says nothing.
            if let found = state[request], now >= found.until || now < found.since { state[request] = nil }
            return state[request]
        }
        if let postponed { throw LoadFailure(postponed.error, isReported: true) }
    }
}

extension ModelEngine {
    /// - Throws: a ``LoadFailure`` if the server wants the request later. A reload asks all the same.
    func checkDue(_ request: @autoclosure () -> ModelRequest, _ mode: FetchMode = .automatic) throws {
        if mode != .reload { try postponed.check(request(), at: clock.now) }
    }

    /// Whether the server takes a request by now.
    func isDue(_ request: @autoclosure () -> ModelRequest) -> Bool {
        do { try checkDue(request()) } catch { return false }
        return true
    }

    /// The error of an answer that is no success. Later fetches honour its `Retry-After`.
    func refusal(
        _ code: ModelCacheError.Code = .status,
        _ message: String? = nil,
        of subject: ModelCacheError.Subject,
        by answer: Answer
    ) -> ModelCacheError {
        var response = answer.response
        response.body = Data(response.body.prefix(Self.errorBodyLimit))
        let error = ModelCacheError(
            code,
            message ?? "the server answered \(response.status) for \(subject)",
            of: subject,
            status: response.status,
            cause: answer.cause,
            answer: ModelBody(response, decoder: makeDecoder),
            retryAt: PostponedRequests.end(of: response, at: answer.receivedAt)
        )
        postponed.add(answer.request, error, at: answer.receivedAt)
        return error
    }

    /// The most bytes of an answer that an error keeps.
    private static var errorBodyLimit: Int { 65_536 }
}

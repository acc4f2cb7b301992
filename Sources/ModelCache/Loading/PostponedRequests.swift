import Foundation
import Synchronization

/// Requests that the server wants no earlier than a given moment (`Retry-After`), with the error of its answer.
///
/// In memory alone: another launch may ask.
final class PostponedRequests: Sendable {
    private struct Postponed {
        let since: Date
        let until: Date
        let error: ModelCacheError
    }

    /// The longest time that is honoured, in seconds: a server's mistake must not end with the process alone.
    private static let timeLimit: Double = 3_600

    private let state = Mutex(BoundedTable<ModelRequest, Postponed>())

    /// The moment before which an answer wants no further request; `nil` if it does not say.
    static func end(of response: ModelResponse, at now: Date) -> Date? {
        guard let text = response.headers["retry-after"] else { return nil }
        let words = text.trimmingCharacters(in: .whitespaces)
        let isNumber = !words.isEmpty && words.utf8.allSatisfy { (0x30...0x39).contains($0) }
        // A date is of the server's clock, and the device's may be wrong.
        let sent = response.headers["date"].flatMap { HTTPDate.parse($0, now: now) } ?? now
        let seconds =
            isNumber ? Double(words) : HTTPDate.parse(words, now: now).map { $0.timeIntervalSince(sent) }
        guard let seconds, seconds > 0 else { return nil }
        return now.addingTimeInterval(min(seconds, timeLimit))
    }

    /// Keeps the error of an answer that says when the request may be sent again.
    func add(_ request: ModelRequest, _ error: ModelCacheError, at now: Date) {
        guard let until = error.retryAt else { return }
        let request = request.unconditional
        _ = state.withLock { $0.put(Postponed(since: now, until: until, error: error), request) }
    }

    /// Forgets a request that was answered well.
    func remove(_ request: ModelRequest) {
        if state.withLock({ $0.isEmpty }) { return }
        let request = request.unconditional
        _ = state.withLock { $0.remove(request) }
    }

    /// - Throws: a ``LoadFailure``, which was reported, if a request is not to be sent yet.
    func check(_ request: @autoclosure () -> ModelRequest, at now: @autoclosure () -> Date) throws {
        if state.withLock({ $0.isEmpty }) { return }
        let (request, now) = (request().unconditional, now())
        let postponed = state.withLock { state in
            // A clock that was set back says nothing.
            if let found = state[request], now >= found.until || now < found.since { _ = state.remove(request) }
            return state[request]
        }
        if let postponed { throw LoadFailure(postponed.error, isReported: true) }
    }
}

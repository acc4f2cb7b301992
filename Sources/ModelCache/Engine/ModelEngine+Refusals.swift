import Foundation

// Servers that refuse, and that want a request later.

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

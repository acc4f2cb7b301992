import Foundation
import Synchronization

/// The server as loads see it: requests and answers, and the requests that it wants later.
final class Server: Sendable {
    private let transport: (any ModelTransport)?
    private let tables: ModelTables
    private let makeDecoder: @Sendable () -> JSONDecoder
    private let postponed = PostponedRequests()
    let mode = Mutex(ConnectionMode.online)

    init(
        _ transport: (any ModelTransport)?,
        _ tables: ModelTables,
        decoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.transport = transport
        self.tables = tables
        makeDecoder = decoder
    }

    var now: Date { tables.clock.now }

    /// - Throws: `.offline`.
    func checkOnline(for subject: ModelCacheError.Subject, _ missing: String) throws(ModelCacheError) {
        guard mode.withLock({ $0 }) == .offline else { return }
        throw ModelCacheError(.offline, "\(missing) is not stored, and the cache is offline", of: subject)
    }

    /// Sends a request, and says when it began.
    ///
    /// - Throws: `.noTransport`, `.transport`, `.closed`; `CancellationError`.
    nonisolated(nonsending) func send(
        _ request: ModelRequest,
        for subject: ModelCacheError.Subject
    ) async throws -> Answer {
        guard let transport else {
            let fault = "the cache was opened without a transport, and cannot load \(subject)"
            throw ModelCacheError(.noTransport, fault, of: subject)
        }
        let start = try await tables.beginRequest()
        let response: ModelResponse
        var cause: (any Error)?
        do {
            response = try await transport.send(request)
        } catch let thrown as ModelResponseError {
            (response, cause) = (thrown.response, thrown.cause)
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            let fault = "the request for \(subject) could not be sent, or was not answered"
            throw ModelCacheError(.transport, fault, of: subject, cause: error)
        }
        try tables.checkUsable()
        if response.status < 400 { postponed.remove(request) }
        let now = now
        return Answer(
            request: request,
            response: response,
            cause: cause,
            lifetime: ResponseLifetime(of: response, to: request, requestedAt: start.date, receivedAt: now),
            revision: start.revision,
            requestedAt: start.date,
            receivedAt: now
        )
    }

    /// Decodes an answer.
    ///
    /// - Parameter fault: the error's message where `decode` throws.
    /// - Throws: `.decodingFailed`.
    func decode<Value>(
        _ answer: Answer,
        after cursor: PageCursor? = nil,
        of subject: ModelCacheError.Subject,
        or fault: String,
        _ decode: (ModelBody) throws -> Value
    ) throws(ModelCacheError) -> Value {
        do {
            return try decode(ModelBody(answer.response, after: cursor, decoder: makeDecoder))
        } catch {
            throw ModelCacheError(.decodingFailed, fault, of: subject, cause: error)
        }
    }

    // MARK: Refusing

    /// - Throws: a ``LoadFailure`` if the server wants the request later. A reload asks all the same.
    func checkDue(_ request: @autoclosure () -> ModelRequest, _ mode: FetchMode = .automatic) throws {
        if mode != .reload { try postponed.check(request(), at: tables.clock.now) }
    }

    /// Whether the server takes a request by now.
    func isDue(_ request: @autoclosure () -> ModelRequest) -> Bool {
        do { try checkDue(request()) } catch { return false }
        return true
    }

    /// The error of an answer with a status of failure. Later fetches honour its `Retry-After`.
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

/// An answer and the circumstances of its request.
struct Answer: Sendable {
    let request: ModelRequest
    let response: ModelResponse
    /// The error of a transport that threw the answer.
    let cause: (any Error)?
    let lifetime: ResponseLifetime
    let revision: Revision
    let requestedAt: Date
    let receivedAt: Date

    var state: ArrivalState { state(lifetime) }

    func state(_ lifetime: ResponseLifetime) -> ArrivalState {
        ArrivalState(
            lifetime: lifetime,
            revision: revision,
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }
}

import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCacheTesting

private struct Problem: Decodable, Equatable {
    var errorText: String
}

/// The answers of a server that refuses or is busy.
@Suite struct RefusalTests {
    private static let problem = StubTransport.Body.json(#"{"error_text": "Not sold in your country"}"#)

    private func open(_ server: some ModelTransport, _ clock: ManualClock = ManualClock()) async throws
        -> Models
    {
        try await Models.inMemory(
            types: [User.self, Article.self],
            transport: server,
            clock: clock,
            decoder: {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                return decoder
            }
        )
    }

    @Test(arguments: [403, 404, 422, 500]) func anErrorHasTheAnswersContent(status: Int) async throws {
        let server = StubTransport()
        for path in ["/users/1", "/articles", "/users?ids=1,2"] {
            server.answer(path, Self.problem, status: status, headers: ["X-Request": "r"])
        }
        let models = try await open(server)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await models.fetch(User.self, id: 1) },
            { _ = try await models.fetch(User.self, ids: [1, 2]) },
            { _ = try await models.fetch(Feed(topic: "swift")) },
        ]
        for call in calls {
            let error = try #require(await #expect(throws: ModelCacheError.self) { try await call() })
            #expect(error.status == status)
            #expect(error.headers["x-request"] == "r")
            #expect(try error.decode(Problem.self) == Problem(errorText: "Not sold in your country"))
            #expect(try error.decode(String.self, at: "error_text") == "Not sold in your country")
            #expect(!"\(error)".contains("country"))
        }
    }

    @Test func anErrorKeepsSixtyFourKibibytesOfABody() async throws {
        let server = StubTransport()
        server.answer("/users/1", .json(String(repeating: "x", count: 70_000)), status: 500)
        let models = try await open(server)
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        #expect(error?.body.count == 65_536)
        #expect(throws: DecodingError.self) { try error?.decode(Problem.self) }
    }

    @Test func anErrorWithoutAnAnswerHasNoContent() async throws {
        let server = StubTransport()
        server.fail("/users/1")
        let models = try await open(server)
        let error = try #require(
            await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        )
        #expect(error.code == .transport)
        #expect(error.body.isEmpty && error.headers.all.isEmpty && error.retryAt == nil)
        #expect(throws: DecodingError.self) { try error.decode(Problem.self) }
    }

    private struct Throwing: ModelTransport {
        struct Refused: Error { let status: Int }
        let inner: StubTransport
        func send(_ request: ModelRequest) async throws -> ModelResponse {
            let response = try await inner.send(request)
            guard response.status >= 400 else { return response }
            throw ModelResponseError(response, cause: Refused(status: response.status))
        }
    }

    @Test func aRefusalThatATransportThrowsIsARefusal() async throws {
        let server = StubTransport()
        let models = try await open(Throwing(inner: server))
        server.answerUser(1, "Ada")
        _ = try await models.fetch(User.self, id: 1)
        try await models.invalidate(.everything)
        server.answer("/users/1", Self.problem, status: 403)
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        #expect(error?.code == .status)
        #expect(error?.status == 403)
        #expect((error?.cause as? Throwing.Refused)?.status == 403)
        #expect(try error?.decode(Problem.self) == Problem(errorText: "Not sold in your country"))
        server.answer("/users/1", Self.problem, status: 404)
        await expect(.notFound) { _ = try await models.fetch(User.self, id: 1) }
        #expect(try await models.stored(User.self, id: 1) == nil)
    }

    private static let calls: [String: @Sendable (Models, FetchMode) async throws -> Void] = [
        "a model": { _ = try await $0.fetch(User.self, id: 1, $1) },
        "models": { _ = try await $0.fetch(User.self, ids: [1, 2], $1) },
        "a list": { _ = try await $0.fetch(Feed(topic: "swift"), $1) },
    ]

    @Test(arguments: ["30", "Sat, 01 Jan 2000 00:00:30 GMT"], ["a model", "models", "a list"])
    func aBusyServerIsAskedAgainWhenItSaid(after: String, name: String) async throws {
        let server = StubTransport()
        let clock = ManualClock(now: Date(timeIntervalSince1970: 946_684_800))
        let models = try await open(server, clock)
        for path in ["/users/1", "/articles", "/users?ids=1,2"] {
            server.answer(path, Self.problem, status: 429, headers: ["Retry-After": after])
        }
        let call = try #require(Self.calls[name])
        for seconds in [0, 10, 19] {
            clock.advance(by: .seconds(seconds))
            for mode in [.automatic, .staleWhileRevalidate, .automatic(waitingAtMost: .zero)] as [FetchMode] {
                let error = await #expect(throws: ModelCacheError.self) { try await call(models, mode) }
                #expect(error?.status == 429)
                #expect(try error?.decode(String.self, at: "error_text") == "Not sold in your country")
            }
        }
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(1))
        await expect(.status) { try await call(models, .automatic) }
        #expect(server.requests.count == 2)
        await expect(.status) { try await call(models, .reload) }
        #expect(server.requests.count == 3)
    }

    /// A date is a moment of the server's clock, which an answer's `Date` tells.
    @Test(arguments: [-86_400, 0, 86_400]) func aClockThatIsWrongWaitsNoLongerAndNoShorter(seconds: Int)
        async throws
    {
        let server = StubTransport()
        let clock = ManualClock(now: Date(timeIntervalSince1970: 946_684_800 + Double(seconds)))
        let models = try await open(server, clock)
        server.answer(
            "/users/1",
            Self.problem,
            status: 503,
            headers: ["Date": "Sat, 01 Jan 2000 00:00:00 GMT", "Retry-After": "Sat, 01 Jan 2000 00:00:30 GMT"]
        )
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        #expect(error?.retryAt == clock.now.addingTimeInterval(30))
    }

    @Test func aStaleValueIsReturnedWithoutARequestUntilThen() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let failures = Failures()
        let models = try await Models.inMemory(
            types: [User.self],
            transport: server,
            clock: clock,
            onFailure: { failures.add($0) }
        )
        server.answerUser(1, "Ada")
        _ = try await models.fetch(User.self, id: 1)
        try await models.invalidate(.everything)
        server.answer("/users/1", .empty, status: 503, headers: ["Retry-After": "30"])
        for _ in 1...3 {
            #expect(try await models.fetch(User.self, id: 1).name == "Ada")
            #expect(try await models.fetch(User.self, id: 1, .staleWhileRevalidate).name == "Ada")
            await models.settle()
        }
        #expect(server.requests.count == 2)
        #expect(failures.all.map(\.status) == [503])
        // A reload that succeeds ends it.
        server.answerUser(1, "Grace")
        #expect(try await models.fetch(User.self, id: 1, .reload).name == "Grace")
        try await models.invalidate(.everything)
        #expect(try await models.fetch(User.self, id: 1).name == "Grace")
        #expect(server.requests.count == 4)
    }

    @Test func aServersMistakeIsHonouredForAnHour() async throws {
        let server = StubTransport()
        let clock = ManualClock()
        let models = try await open(server, clock)
        server.answer("/users/1", .empty, status: 429, headers: ["Retry-After": "99999999999999999999"])
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        #expect(error?.retryAt == clock.now.addingTimeInterval(3_600))
        clock.advance(by: .seconds(3_600))
        server.answerUser(1, "Ada")
        #expect(try await models.fetch(User.self, id: 1).name == "Ada")
        for text in ["-5", "soon", "", "1.5"] {
            server.answer("/users/2", .empty, status: 429, headers: ["Retry-After": text])
            let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 2) }
            #expect(error?.retryAt == nil)
        }
        #expect(server.requests.count == 6)
    }
}

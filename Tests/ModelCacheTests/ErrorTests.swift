import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCacheTesting

/// The messages of errors, and answers with another model's identity.
@Suite struct ErrorTests {
    @Test(arguments: [true, false]) func anotherModelsAnswerIsRefusedAndNothingOfItIsKept(isStored: Bool)
        async throws
    {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer(
            "/articles/6",
            .json(#"{"id": 7, "title": "t", "author": {"id": 1, "name": "n"}}"#),
            headers: isStored ? [:] : ["Cache-Control": "no-store"]
        )
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(Article.self, id: 6) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message == "the server was asked for article 6, and answered with 7")
        #expect(try await models.stored(Article.self, ids: [6, 7]).isEmpty)
        #expect(try await models.stored(User.self, id: 1) == nil)
        // A stored one is shown in its place, as for other errors.
        try await models.save(Article(id: 6, title: "mine", author: ModelLink(1)))
        stage.clock.advance(by: .seconds(120))
        #expect(try await models.fetch(Article.self, id: 6).title == "mine")
        await expect(.decodingFailed) { _ = try await models.fetch(Article.self, id: 6, .reload) }
    }

    @Test(arguments: [
        (
            #"{"items": [{"id": 1, "title": "t", "author": 7}, {"id": 1, "title": 5, "author": 7}]}"#,
            "no String at items[1].title"
        ),
        (#"{"items": [{"id": 1, "author": 7}]}"#, "no member title at items[0]"),
        (#"{"items": [{"id": 1, "title": null, "author": 7}]}"#, "null for String at items[0].title"),
        (#"{"list": []}"#, "no member items"),
        (#"{"items": [{"id": 5e400, "title": "t", "author": 7}]}"#, "no JSON, or unusable data"),
        ("<html>", "no JSON, or unusable data"),
    ])
    func anAnswerThatCannotBeDecodedSaysWhereAndWhy(body: String, cause: String) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", .json(body))
        let models = try await stage.open()
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(Feed(topic: "swift")) }
        let list = "the list feed/swift of article"
        #expect(error?.message == "the answer is no page of \(list): \(cause)")
        #expect(error?.description == "decodingFailed: the answer is no page of \(list): \(cause)")
        #expect(error?.localizedDescription == error?.message)
    }

    @Test func aClosureAfterTheInitializerIsToldFailures() async throws {
        let (server, failures, directory) = (StubTransport(), Failures(), try TemporaryDirectory())
        let onDisk = try await Models(
            account: "1",
            types: [User.self],
            directory: directory.url,
            transport: server
        ) { failures.add($0) }
        let inMemory = try await Models.inMemory(types: [User.self], transport: server) { failures.add($0) }
        for (count, models) in [onDisk, inMemory].enumerated() {
            try await models.save(User(id: 1, name: "Ada", bio: "b"))
            try await models.invalidate(.everything)
            #expect(try await models.fetch(User.self, id: 1).name == "Ada")
            #expect(failures.all.map(\.code) == Array(repeating: .transport, count: count + 1))
        }
    }

    @Test func aRequestWithoutAScriptedAnswerIsNamed() async throws {
        let error = await #expect(throws: StubTransport.Unscripted.self) {
            try await StubTransport().send(.get("/users", query: ["page": "2"]))
        }
        #expect(error?.path == "/users?page=2")
        #expect(error?.description == "no answer was scripted for /users?page=2")
    }

    private enum Failure: Error {
        case silent
        case refused(body: String)
    }
    private struct Unnamed: Error { let body: String }
    private struct Spoken: LocalizedError { let errorDescription: String? }

    @Test func aRequestWithoutAnAnswerSaysWhyInSomeWords() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let body = String(repeating: "secret ", count: 1_000)
        let causes: [(any Error, String)] = [
            (Failure.silent, "Failure.silent"),
            (
                DecodingError.dataCorrupted(
                    .init(codingPath: [PathName(stringValue: "date")], debugDescription: body)
                ),
                "unusable data at date"
            ),
            (Failure.refused(body: body), "Failure.refused"),
            (Unnamed(body: body), "Unnamed"),
            (Spoken(errorDescription: "No route.\nMore."), "No route."),
            (Spoken(errorDescription: body), String(body.prefix(160)) + "…"),
            (URLError(.timedOut), URLError(.timedOut).localizedDescription),
            (
                NSError(domain: "Net", code: 5, userInfo: ["body": body]),
                NSError(domain: "Net", code: 5).localizedDescription
            ),
        ]
        for (cause, text) in causes {
            stage.server.fail("/users/1", with: cause)
            let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
            #expect(error?.code == .transport)
            #expect(error?.message == "the request for user 1 could not be sent, or was not answered: \(text)")
        }
    }

    /// Also errors that only `onFailure` is told of.
    @Test func everyErrorOfALoadNamesItsModelOrList() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        func error(_ code: ModelCacheError.Code, _ body: () async throws -> Void) async -> ModelCacheError? {
            let error = await #expect(throws: ModelCacheError.self) { try await body() }
            #expect(error?.code == code)
            let subject = error?.subject?.description ?? "nothing"
            #expect(error?.message.contains(subject) == true, "\(subject) in \(error?.message ?? "")")
            return error
        }
        func expectModel(_ code: ModelCacheError.Code) async {
            let error = await error(code) { _ = try await models.fetch(User.self, id: 1) }
            #expect(error?.subject?.modelName == "user")
            #expect(error?.subject?.key == "1")
            #expect(error?.subject?.listKey == nil)
        }
        func expectList(_ code: ModelCacheError.Code) async {
            let error = await error(code) { _ = try await models.fetch(feed) }
            #expect(error?.subject?.modelName == "article")
            #expect(error?.subject?.key == nil)
            #expect(error?.subject?.listKey == "feed/swift")
        }
        stage.server.fail("/users/1", with: Failure.silent)
        stage.server.fail("/articles?topic=swift", with: Failure.silent)
        await expectModel(.transport)
        await expectList(.transport)
        for (status, code) in [(404, ModelCacheError.Code.notFound), (500, .status), (200, .decodingFailed)] {
            stage.server.answer("/users/1", .json("{}"), status: status)
            stage.server.answer("/articles?topic=swift", .json("{}"), status: status)
            await expectModel(code)
            await expectList(code == .notFound ? .status : code)
        }
        stage.server.answer("/users?ids=1,2", .json("{}"))
        let several = await error(.decodingFailed) { _ = try await models.fetch(User.self, ids: [1, 2]) }
        #expect(several?.subject?.modelName == "user")
        #expect(several?.subject?.key == nil)
        models.mode = .offline
        await expectModel(.offline)
        await expectList(.offline)
        models.mode = .online
        stage.server.answerUser(1, "a")
        _ = try await models.fetch(User.self, id: 1)
        stage.server.answer("/users/1", .json("{}"), status: 500)
        _ = try await models.fetch(User.self, id: 1, .staleWhileRevalidate)
        stage.clock.advance(by: .seconds(120))
        _ = try await models.fetch(User.self, id: 1)
        let told = try #require(stage.failures.all.last)
        #expect(told.subject?.key == "1")
        #expect(told.message == "the server answered 500 for user 1")
    }

    @Test func aLongPathIsCut() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let path = (0..<1_000).map { PathName(stringValue: "member\($0)") }
        let cause = DecodingError.typeMismatch(Int.self, .init(codingPath: path, debugDescription: "secret"))
        stage.server.fail("/users/1", with: cause)
        let error = await #expect(throws: ModelCacheError.self) { _ = try await models.fetch(User.self, id: 1) }
        let message = try #require(error?.message)
        #expect(message.count < 300)
        #expect(message.contains("no Int at …"))
        #expect(message.hasSuffix("member998.member999"))
    }
}

private struct PathName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

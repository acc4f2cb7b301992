import Foundation
import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCacheTesting

/// A chat: the server gives the latest messages, and earlier ones in front of them.
private struct Chat: ModelList {
    typealias Element = Article
    var listKey: String { "chat" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/chat", query: ["after": cursor?.text]) }
    func request(before cursor: PageCursor) -> ModelRequest { .get("/chat", query: ["before": cursor.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> {
        try body.page(items: "items", next: .optional("newer"), previous: .optional("older"))
    }
}

/// Messages in pages of three; pages that follow one in the middle have a cursor as well.
private final class ChatServer: ModelTransport {
    private struct State {
        var messages: [Int] = []
        var isHeld = false
        var requests: [String] = []
        var noStore = false
        var refused = false
    }

    private let state = Mutex(State())
    /// Where a request for earlier messages waits, if it is held.
    let gate = Gate()

    init(_ messages: [Int]) { state.withLock { $0.messages = messages } }

    var messages: [Int] {
        get { state.withLock { $0.messages } }
        set { state.withLock { $0.messages = newValue } }
    }
    var requests: [String] { state.withLock { $0.requests } }
    func hold() { state.withLock { $0.isHeld = true } }
    func forbidKeeping() { state.withLock { $0.noStore = true } }
    func refuse() { state.withLock { $0.refused = true } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let cursor = request.query.first
        let (messages, isHeld, noStore, refused) = state.withLock { state in
            state.requests.append(cursor.map { "\($0.name) \($0.value ?? "")" } ?? "latest")
            return (state.messages, state.isHeld, state.noStore, state.refused)
        }
        var page = messages.suffix(3)
        if let cursor, let id = cursor.value.flatMap({ Int($0) }) {
            if isHeld { await gate.pass() }
            if refused { return ModelResponse(status: 410) }
            page =
                cursor.name == "before"
                ? messages.prefix { $0 < id }.suffix(3) : messages.drop { $0 <= id }.prefix(3)
        }
        let items = page.map { #"{"id": \#($0), "title": "t", "author": 7}"# }.joined(separator: ",")
        let older = page.startIndex > 0 ? #", "older": \#(page.first ?? 0)"# : ""
        let newer = page.endIndex < messages.count ? #", "newer": \#(page.last ?? 0)"# : ""
        let body = Data(#"{"items": [\#(items)]\#(older)\#(newer)}"#.utf8)
        return ModelResponse(headers: noStore ? ["Cache-Control": "no-store"] : [:], body: body)
    }
}

@Suite struct FrontPageTests {
    private func open(_ server: ChatServer, in directory: TemporaryDirectory) async throws -> Models {
        try await Models(
            account: "1",
            types: [Article.self, User.self],
            directory: directory.url,
            transport: server
        )
    }

    /// Runs `body` while a request for the page in front of the latest one waits at the server.
    ///
    /// - Returns: the list that the request shows in the end.
    private func earlierPage(
        of server: ChatServer,
        _ models: Models,
        during body: () async throws -> Void
    ) async throws -> [Int]? {
        _ = try await models.fetch(Chat())
        server.hold()
        async let earlier = models.fetchPrevious(of: Chat())
        await server.gate.reached()
        try await body()
        server.gate.open()
        return ids(try await earlier)
    }

    private func ids(_ list: ListSnapshot<Chat>?) -> [Int]? { list?.elements.map(\.id) }

    @Test func earlierPagesComeInFrontAlsoInTheNextLaunch() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        var models = try await open(server, in: directory)
        let latest = try await models.fetch(Chat())
        #expect(ids(latest) == [8, 9, 10] && latest.hasPrevious && !latest.hasMore)
        #expect(ids(try await models.fetchPrevious(of: Chat())) == Array(5...10))
        try await models.close()
        models = try await open(server, in: directory)
        #expect(try await models.stored(Chat())?.hasPrevious == true)
        #expect(ids(try await models.fetchPrevious(of: Chat())) == Array(2...10))
        let all = try await models.fetchPrevious(of: Chat())
        #expect(ids(all) == Array(1...10) && !all.hasPrevious)
        // Nothing is left to ask for.
        #expect(ids(try await models.fetchPrevious(of: Chat())) == Array(1...10))
        #expect(server.requests == ["latest", "before 8", "before 5", "before 2"])
        try await models.close()
    }

    @Test func newMessagesLeaveThePagesInFrontUnlessTheyAreTooMany() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        let models = try await open(server, in: directory)
        _ = try await models.fetch(Chat())
        _ = try await models.fetchPrevious(of: Chat())
        server.messages += [11, 12]
        #expect(ids(try await models.fetch(Chat(), .reload)) == Array(5...12))
        // A gap: unknown messages may be in between.
        server.messages += Array(13...20)
        let later = try await models.fetch(Chat(), .reload)
        #expect(ids(later) == [18, 19, 20] && later.hasPrevious)
        #expect(ids(try await models.fetchPrevious(of: Chat())) == Array(15...20))
        // All known pages, with one that the server has deleted.
        server.messages.removeAll { $0 == 16 }
        #expect(ids(try await models.reloadAllPages(of: Chat())) == [14, 15, 17, 18, 19, 20])
        try await models.close()
    }

    @Test func aPageInFrontOfAListThatBeganAgainIsAskedForAgain() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        let models = try await open(server, in: directory)
        let earlier = try await earlierPage(of: server, models) {
            server.messages += Array(11...20)
            _ = try await models.fetch(Chat(), .reload)
        }
        #expect(earlier == Array(15...20))
        #expect(server.requests == ["latest", "before 8", "latest", "before 18"])
        try await models.close()
    }

    @Test func aPageInFrontHasNoElementThatWasRemovedSince() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        let models = try await open(server, in: directory)
        let earlier = try await earlierPage(of: server, models) {
            try await models.change {
                $0.remove(id: 6, from: Chat())
            } sending: {
            }
        }
        #expect(earlier == [5, 7, 8, 9, 10])
        try await models.close()
    }

    @Test func aRefusedCursorInFrontIsAnErrorAndAnUnkeptPageAnEnd() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        let models = try await open(server, in: directory)
        _ = try await models.fetch(Chat())
        server.forbidKeeping()
        let unkept = try await models.fetchPrevious(of: Chat())
        #expect(ids(unkept) == Array(5...10) && !unkept.hasPrevious)
        #expect(ids(try await models.stored(Chat())) == [8, 9, 10])
        server.refuse()
        await expect(.cursorRefused) { _ = try await models.fetchPrevious(of: Chat()) }
        let stored = try await models.stored(Chat())
        #expect(stored?.freshness.staleReason == .cursorRefused && stored?.hasPrevious == false)
        try await models.close()
    }

    @Test func aViewShowsPagesInFront() async throws {
        let (server, directory) = (ChatServer(Array(1...10)), try TemporaryDirectory())
        let models = try await open(server, in: directory)
        let live = await models.live(Chat())
        await live.load()
        await live.loadPrevious()
        #expect(await live.elements.map(\.id) == Array(5...10))
        #expect(await live.hasPrevious)
        try await models.close()
    }
}

import Foundation
import ModelCache
import Testing

@testable import CacheCommand

/// The command on directories that the library ModelCache has made.
@Suite struct ModelEntryTests {
    struct User: CachedModel {
        static let modelName = "user"
        static let schemaVersion = 3
        let id: Int
        var name: String
        var friend: ModelLink<User>?
        static func request(for id: Int) -> ModelRequest { .get("/users/\(id)") }
    }

    struct Friends: ModelList {
        typealias Element = User
        var listKey: String { "friends" }
        var tags: Set<String> { ["people"] }
        func request(after cursor: PageCursor?) -> ModelRequest { .get("/friends") }
        func page(in body: ModelBody) throws -> ModelPage<User> { try body.page(items: "items", next: "next") }
    }

    struct Server: ModelTransport {
        func send(_ request: ModelRequest) async throws -> ModelResponse {
            let body =
                request.path == "/friends"
                ? #"{"items": [{"id": 8, "name": "Grace"}, {"id": 9, "name": "Linus"}], "next": "page 2"}"#
                : #"{"id": 7, "name": "Ada", "friend": 8}"#
            return ModelResponse(
                headers: ["ETag": "\"a\"", "Cache-Control": "max-age=60, must-revalidate"],
                body: Data(body.utf8)
            )
        }
    }

    let workspace: Workspace
    var account: String { workspace.root + "/42" }

    init() async throws {
        workspace = try Workspace()
        let models = try await Models(
            account: "42",
            types: [User.self],
            directory: URL(fileURLWithPath: workspace.root),
            transport: Server()
        )
        _ = try await models.fetch(User.self, id: 7)
        _ = try await models.fetch(Friends())
        try await models.invalidate(.type(User.self), .tag("people"))
        try await models.close()
    }

    private func run(_ words: String..., cache: String) -> ToolRun {
        ToolRun(words + ["--cache", cache, "--root", account], on: TypedCacheBackend())
    }

    private func object(_ run: ToolRun) throws -> [String: Any] {
        #expect(run.status == .success)
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.text.utf8)) as? [String: Any])
    }

    @Test func aModelShowsItsFieldsThenItsAge() throws {
        let shown = run("get", "7", cache: "user")
        let user = try object(shown)
        let model = try #require(user["model"] as? [String: Any])
        #expect(model["name"] as? String == "Ada")
        #expect(model["friend"] as? Int == 8)
        #expect(
            shown.output.text.contains(
                "{\n  \"model\": {\n    \"id\": 7,\n    \"name\": \"Ada\",\n    \"friend\": 8\n"
            )
        )
        let validators = try #require(user["validators"] as? [String: Any])
        #expect(validators.keys.sorted() == ["entityTag", "freshSeconds", "of"])
        #expect(validators["entityTag"] as? String == "\"a\"")
        #expect(validators["of"] as? String == "GET /users/7")
        #expect(validators["freshSeconds"] as? Int == 60)
        let fetched = try #require(user["fetchedAt"] as? String)
        let until = try #require(user["freshUntil"] as? String)
        let age = try #require(InstantText.date(from: until)).timeIntervalSince(
            try #require(InstantText.date(from: fetched))
        )
        #expect(abs(age - 60) < 0.01)
        #expect(user["staleIfErrorSeconds"] as? Double == 0)
        #expect(user["schemaVersion"] as? Int == 3)
        #expect(user["revision"] as? Int == 1)
        #expect(Set(user.keys).isDisjoint(with: ["at", "until", "r", "g", "valid", "sie"]))
        #expect(try object(run("get", "7", "--json", cache: "user")).keys.sorted() == user.keys.sorted())
    }

    @Test func aListShowsItsElementsAndWhatFollows() throws {
        let list = try object(run("get", "friends", cache: "$lists"))
        #expect(list["elements"] as? [String] == ["8", "9"])
        #expect(list["modelName"] as? String == "user")
        #expect(list["nextPage"] as? String == "page 2")
        #expect(list["tags"] as? [String] == ["people"])
        #expect((list["validators"] as? [String: Any])?["of"] as? String == "GET /friends")
    }

    @Test func bookkeepingShowsWhatWasInvalidated() throws {
        let keys = run("list", cache: "$bookkeeping")
        let key = try #require(keys.output.text.split(separator: "\n").first)
        let bookkeeping = try object(run("get", String(key), cache: "$bookkeeping"))
        let invalidated = try #require(bookkeeping["invalidatedBefore"] as? [String: Any])
        #expect(invalidated["type user"] as? Int == 3 && invalidated["tag people"] as? Int == 3)
        #expect(bookkeeping["reservedRevisions"] as? Int == 4_096)
    }

    @Test func listsNameModelsAndLists() throws {
        let users = run("list", "--long", cache: "user")
        #expect(users.output.text.contains("KIND"))
        #expect(users.output.text.split(separator: "\n").dropFirst().allSatisfy { $0.contains("  model  ") })
        #expect(run("list", cache: "user").output.text.split(separator: "\n").sorted() == ["7", "8", "9"])
        #expect(run("list", "--long", cache: "$lists").output.text.contains("  list with 2 elements  friends"))
        let json = run("list", "--json", cache: "$lists")
        let entries = try JSONSerialization.jsonObject(with: Data(json.output.text.utf8)) as? [[String: Any]]
        #expect(entries?.first?["kind"] as? String == "list")
        #expect(entries?.first?["elements"] as? Int == 2)
        #expect(run("list", "--long", cache: "$bookkeeping").output.text.contains("bookkeeping"))
    }

    @Test func theOtherSubcommandsWorkAsOnAnyCache() throws {
        for cache in ["user", "$lists", "$bookkeeping"] {
            #expect(run("verify", cache: cache).output.text.hasSuffix(" sound, 0 expired, 0 damaged\n"))
            #expect(run("stats", cache: cache).output.text.hasPrefix("entries  "))
        }
        #expect(run("dump", "7", cache: "user").output.text.hasPrefix("root: ModelCache.Model #1\n"))
    }

    @Test func otherCachesLookAsBefore() throws {
        let cache = DiskCache(workspace, "plain")
        try cache.save(DiskCache.archive("text"), "k")
        #expect(!cache.run("list", "--long").output.text.contains("KIND"))
        #expect(cache.run("get", "k").output.text == "\"text\"\n")
    }
}

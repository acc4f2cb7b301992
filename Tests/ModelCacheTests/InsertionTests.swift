import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// A list in pages of three, the newest first.
private struct Newest: ModelList {
    typealias Element = Article
    static let pageSize = 3

    var listKey: String { "newest" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/newest", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }

    /// Has a server answer with all pages of a list.
    static func answer(_ ids: [Int], by server: StubTransport) {
        for start in stride(from: 0, to: ids.count, by: pageSize) {
            let page = ids[start..<min(start + pageSize, ids.count)]
            let items = page.map { #"{"id": \#($0), "title": "t", "author": 7}"# }.joined(separator: ",")
            let next = page.endIndex < ids.count ? "\"\(ids[page.endIndex - 1])\"" : "null"
            let path = start == 0 ? "/newest" : "/newest?after=\(ids[start - 1])"
            server.answer(path, .json(#"{"items": [\#(items)], "next": \#(next)}"#))
        }
    }

    static func readAll(_ models: Models) async throws -> [Int] {
        var list = try await models.fetch(Newest(), .reload)
        while list.hasMore { list = try await models.fetchMore(of: Newest()) }
        return list.elements.map(\.id)
    }
}

/// Insertions that are under way at once, in whichever order the server takes them.
@Suite struct InsertionTests {
    private func insert(
        _ id: Int,
        into models: Models,
        sending send: @escaping @Sendable () async -> Void = {}
    ) async throws {
        let article = Article(id: id, title: "t", author: ModelLink(7))
        try await models.change {
            $0.insert(article, into: Newest(), at: .start)
        } sending: {
            await send()
        }
    }

    /// The server takes two insertions in the order of their identities, and answers in the other one.
    @Test(arguments: [true, false], [true, false])
    func insertionsAtOnceEndInTheServersOrder(isStored: Bool, firstReturnsFirst: Bool) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        let old = isStored ? Array(1...6) : []
        if isStored {
            Newest.answer(old, by: stage.server)
            #expect(try await Newest.readAll(models) == old)
        }
        let gates = [Gate(), Gate()]
        let tasks = gates.indices.map { index in
            Task { try await insert(11 - index, into: models) { await gates[index].pass() } }
        }
        for gate in gates { await gate.reached() }
        for index in firstReturnsFirst ? [0, 1] : [1, 0] {
            gates[index].open()
            try await tasks[index].value
        }
        // Later ones shift them out of the first page, one after another.
        for id in 12...15 { try await insert(id, into: models) }
        Newest.answer([15, 14, 13, 12, 11, 10] + old, by: stage.server)
        #expect(try await Newest.readAll(models) == [15, 14, 13, 12, 11, 10] + old)
        try await models.close()
    }

    @Test func aListThatWasOutOfOrderBeginsAgainAlsoInTheNextLaunch() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        Newest.answer(Array(1...6), by: stage.server)
        _ = try await Newest.readAll(models)
        let gate = Gate()
        async let first: Void = insert(10, into: models) { await gate.pass() }
        await gate.reached()
        try await insert(11, into: models)
        gate.open()
        try await first
        for id in 12...15 { try await insert(id, into: models) }
        try await models.close()
        let again = try await stage.open()
        // It took the first one first, and answered it last.
        let all = [15, 14, 13, 12, 11, 10] + Array(1...6)
        Newest.answer(all, by: stage.server)
        #expect(try await Newest.readAll(again) == all)
    }

    /// Removals are the same in any order, so that nothing has to be loaded again for them.
    @Test func removalsBesideAnInsertionLeaveThePages() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        Newest.answer(Array(1...6), by: stage.server)
        _ = try await Newest.readAll(models)
        let gate = Gate()
        async let removal: Void = models.change {
            $0.remove(id: 6, from: Newest())
        } sending: {
            await gate.pass()
        }
        await gate.reached()
        try await insert(10, into: models)
        gate.open()
        try await removal
        Newest.answer([10] + Array(1...5), by: stage.server)
        #expect(try await models.fetch(Newest(), .reload).elements.map(\.id) == [10] + Array(1...5))
    }
}

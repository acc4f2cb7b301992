import Foundation
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// A model that refers to others of its own type.
private struct Reply: CachedModel {
    static let modelName = "reply"
    let id: Int
    var text: String
    var parent: ModelLink<Reply>?

    static func request(for id: Int) -> ModelRequest { .get("/replies/\(id)") }
    var tags: Set<String> { [text] }
}

/// In which order the models of an answer come to disk.
@Suite struct ArrivalTests {
    /// The JSON of a reply with all that it answers, down to number 0.
    private func json(_ id: Int) -> String {
        let parent = id > 0 ? ", \"parent\": \(json(id - 1))" : ""
        return "{\"id\": \(id), \"text\": \"\(id % 3)\"\(parent)}"
    }

    @Test func aModelComesBehindThoseThatItRefersTo() async throws {
        let server = StubTransport()
        let models = try await Models.inMemory(types: [Reply.self], transport: server)
        let depth = 60
        let body = ModelBody(ModelResponse(body: Data(json(depth).utf8))) { JSONDecoder() }
        let reply = try body.model(Reply.self)
        var arrivals = Arrivals()
        arrivals.add(body.nested)
        arrivals.add([reply], from: .detail)
        // Once more, and one of them with another text: each is written once, where it came first.
        arrivals.add([Reply(id: 7, text: "new", parent: ModelLink(6))], from: .list)
        let state = ArrivalState(pushedAt: .now, asOf: Revision(1))
        let merged = try await arrivals.groups[0].prepare(state, in: models.engine.tables)()
        #expect(arrivals.groups.count == 1)
        #expect(merged.names.map(\.key) == (0...depth).map(String.init))
        #expect(merged.count == depth + 1)
        #expect(merged.write() == nil)
        #expect(try await models.stored(Reply.self, id: 7)?.value.text == "new")
    }

    /// Copies of all models at each addition would take quadratic time.
    @Test func modelsAreAddedToThoseOfTheirTypeInPlace() throws {
        var arrivals = Arrivals()
        var moveCount = 0
        var address: UnsafePointer<Reply>?
        for id in 0..<2_000 {
            arrivals.add([Reply(id: id, text: "t")], from: .nested)
            let group = try #require(arrivals.groups.first as? TypedArrivals<Reply>)
            let place = group.parts[0].models.withUnsafeBufferPointer(\.baseAddress)
            if place != address { moveCount += 1 }
            address = place
        }
        // An array moves where it doubles its room.
        #expect(moveCount < 50)
        // Each source has a part of its own, and the models keep their order.
        arrivals.add([Reply(id: 0, text: "list")], from: .list)
        arrivals.add([Reply(id: 0, text: "nested")], from: .nested)
        let group = try #require(arrivals.groups.first as? TypedArrivals<Reply>)
        #expect(group.parts.map(\.source) == [.nested, .list, .nested])
        #expect(group.parts[0].keys == (0..<2_000).map(String.init))
    }

    @Test func changesAreWrittenInTheirOrderAndKeepTheirTags() throws {
        let cache = try Cache<ModelRecord<Reply>>(name: "replies", settings: CacheSettings(disk: nil))
        let table = RecordTable(cache)
        let state = EntryState(generation: 1, revision: Revision(1), fetchedAt: .now)
        let records = (0..<30).map { id in
            let reply = Reply(id: id, text: "\(id % 3)")
            return (key: "\(id)", record: ModelRecord(model: reply, state: state), tags: reply.tags)
        }
        let due = table.change(RecordTable.Changes(records))
        #expect(due.changes.map(\.key) == records.map(\.key))
        #expect(try table.known("7")??.model.id == 7)
        // Changed again before it is written: the first change is written, and the second one stays.
        let again = table.change("7", to: nil)
        #expect(table.write(due) == nil)
        #expect(table.changeCount == 1)
        #expect(try table.known("7") == .some(nil))
        #expect(try cache.fetch(forKey: "7")?.model.id == 7)
        #expect(table.write(again) == nil)
        #expect(table.changeCount == 0)
        #expect(try cache.fetch(forKey: "7") == nil)
        #expect(try cache.removeAll(tagged: "0") == 10)
        #expect(try cache.removeAll(tagged: "1") == 9)
    }

    @Test func knownEntriesAreThoseThatOneByOneLooksFind() throws {
        let cache = try Cache<ModelRecord<Reply>>(name: "replies", settings: CacheSettings(disk: nil))
        let table = RecordTable(cache)
        let state = EntryState(generation: 1, revision: Revision(1), fetchedAt: .now)
        func record(_ id: Int) -> ModelRecord<Reply> { ModelRecord(model: Reply(id: id, text: "t"), state: state) }
        let keys = try PreparedKeys((0..<40).map(String.init))
        for id in stride(from: 0, to: 40, by: 2) {
            #expect(table.write(table.change("\(id)", to: record(id))) == nil)
        }
        for waits in [false, true] {
            if waits {
                _ = table.change("3", to: record(3))
                _ = table.change("4", to: nil)
            }
            let (found, unknown) = try table.known(keys)
            for index in keys.indices {
                let alone = try table.known(keys[index])
                #expect((alone ?? nil) === found[index])
                #expect(unknown.contains(index) == (alone == nil))
            }
            var count = 0
            #expect(try !table.forEachInMemory(keys) { _ in count += 1 })
            #expect(count == 1)
        }
        // All requested models wait.
        _ = table.change(RecordTable.Changes((0..<40).map { ("\($0)", record($0), []) }))
        var ids: [Int] = []
        #expect(try table.forEachInMemory(PreparedKeys(["7", "3", "39"])) { ids.append($0.model.id) })
        #expect(ids == [7, 3, 39])
        _ = table.change("3", to: nil)
        #expect(try !table.forEachInMemory(PreparedKeys(["7", "3", "39"])) { _ in })
    }

    @Test func equalKeysHaveThePlaceOfTheFirst() throws {
        var random = SeededGenerator(seed: 1)
        for count in [0, 1, 7, 8, 9, 500] {
            let texts = (0..<count).map { _ in "\(Int.random(in: 0...(count / 2 + 1), using: &random))" }
            let places = try PreparedKeys(texts).firstPlaces()
            #expect(places == texts.map { texts.firstIndex(of: $0) })
        }
    }
}

extension RecordTable {
    /// Changes one entry.
    fileprivate func change(_ key: String, to record: Record?) -> WaitingChanges.Due {
        change(Changes([(key: key, record: record, tags: Set<String>())]))
    }
}

import Foundation
import TestSupport
import Testing

@testable import ModelCache

/// How a list is written.
@Suite struct ListRecordTests {
    private static let state = EntryState(generation: 1, revision: Revision(1), fetchedAt: .distantPast)

    private func record(_ ids: [String]) -> ListRecord {
        ListRecord(ids: ids, next: PageCursor("n"), modelName: "article", tags: ["t"], state: Self.state)
    }

    private func coded(_ record: ListRecord) throws -> ListRecord {
        try JSONDecoder().decode(ListRecord.self, from: JSONEncoder().encode(record))
    }

    @Test(arguments: [
        [], ["1"], ["1", "22", "333"], [""], ["", ""], ["a", ""], ["\n"], ["a\nb", "c"], ["a\r", "b"],
        ["é", "e\u{301}"],
        ["\u{301}", "b"], ["\u{0}", "🧑‍🚀"],
    ])
    func identitiesComeBackByteByByte(ids: [String]) throws {
        let back = try coded(record(ids))
        #expect(back == record(ids))
        #expect(back.ids.map { Array($0.utf8) } == ids.map { Array($0.utf8) })
    }

    @Test(arguments: 0..<30) func anyIdentitiesComeBack(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let pieces = ["a", "\n", "\r", "", "7", "ü", "\u{301}", "\u{85}", "\u{2028}"]
        let ids = (0..<Int.random(in: 0...20, using: &dice)).map { _ in
            (0..<3).map { _ in pieces.randomElement(using: &dice) ?? "" }.joined()
        }
        #expect(try coded(record(ids)).ids.map { Array($0.utf8) } == ids.map { Array($0.utf8) })
    }

    @Test func anArrayOfIdentitiesIsReadAsWell() throws {
        let json = #"{"ids": ["1", "2"], "next": "n", "model": "article", "tags": ["t"], "g": 1, "r": 1, "at": 0}"#
        let record = try JSONDecoder().decode(ListRecord.self, from: Data(json.utf8))
        #expect(record.ids == ["1", "2"])
        #expect(record.next == PageCursor("n"))
    }
}

import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Small archives with long parts that objects share: they are read quickly, or refused.
@Suite struct SharedDictionaryTests {
    private static let date = 1.5

    /// An array of dates that all share one dictionary, which has the given keys too.
    private func dates(_ count: Int, _ keys: (inout HandmadeArchive) -> [Int]) -> Data {
        var archive = HandmadeArchive()
        let others = keys(&archive)
        let number = archive.real(Self.date)
        let own = [archive.name("NS.time"), archive.name("$class")]
        let values = [number, archive.cls("NSDate")]
        let shared = archive.dictionary(others + own, others.map { _ in number } + values)
        let members = (0..<count).map { _ in archive.uid(archive.place(shared)) }
        return archive.bytes(root: archive.collection("NSArray", members))
    }

    private func read(_ data: Data) throws -> Int {
        try KeyedUnarchiver.unarchivedObject(ofClass: [Any].self, from: data)?.count ?? 0
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func longKeysOutsideASCII() throws {
        let data = dates(1_000) { archive in
            [Int](repeating: archive.utf16(String(repeating: "k", count: 20_000)), count: 62)
        }
        #expect(data.count < 60_000)
        #expect(try read(data) == 1_000)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func longKeysOutsideASCIIInATree() throws {
        var archive = HandmadeArchive()
        let long = archive.utf16(String(repeating: "k", count: 20_000))
        let name = archive.name("X")
        let keys = [Int](repeating: long, count: 60) + [archive.name("$classname")]
        let shared = archive.dictionary(keys, keys.map { _ in name })
        for _ in 0..<1_000 { _ = archive.place(shared) }
        let first = archive.uid(1)
        let data = archive.bytes(root: first)
        #expect(data.count < 50_000)
        _ = code { try ArchiveTree(data) }
    }

    /// They have an index each.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [true, false]) func objectsOfManyKeys(isASCII: Bool) throws
    {
        let data = dates(1_500) { archive in
            let key =
                isASCII
                ? archive.ascii(String(repeating: "k", count: 250))
                : archive.utf16(String(repeating: "\u{E9}", count: 127))
            return [Int](repeating: key, count: 1_800)
        }
        #expect(data.count < 50_000)
        #expect(code { try read(data) } == .limitExceeded)
    }

    /// Each set hashes it.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["text", "other text", "data", "URL"])
    func longMembersOfManySets(kind: String) throws {
        var archive = HandmadeArchive()
        let filler = String(repeating: "k", count: 50_000)
        let member =
            switch kind {
            case "text": archive.uid(archive.place(archive.ascii(filler)))
            case "data": archive.uid(archive.place(archive.data(Data(filler.utf8))))
            case "URL":
                archive.uid(
                    archive.place(
                        archive.dictionary(
                            [archive.name("NS.relative"), archive.name("$class")],
                            [
                                archive.uid(archive.place(archive.ascii("http://a/" + filler))),
                                archive.cls("NSURL"),
                            ]
                        )
                    )
                )
            default: archive.uid(archive.place(archive.utf16(String(repeating: "\u{E9}", count: 25_000))))
            }
        let set = [archive.name("NS.objects"), archive.name("$class")]
        let parts = [archive.array([member]), archive.cls("NSSet")]
        let shared = archive.dictionary(set, parts)
        let sets = (0..<2_000).map { _ in archive.uid(archive.place(shared)) }
        let data = archive.bytes(root: archive.collection("NSArray", sets))
        #expect(data.count < 120_000)
        #expect(code { try read(data) } == .limitExceeded)
    }

    /// A cast copies data for each reference.
    @Test(.timeLimit(.minutes(1 * slowness))) func dataThatAnArrayHoldsManyTimes() throws {
        func data(_ count: Int) -> Data {
            var archive = HandmadeArchive()
            let member = archive.uid(archive.place(archive.data(Data(count: 20_000))))
            let members = [Int](repeating: member, count: count)
            return archive.bytes(root: archive.collection("NSArray", members))
        }
        func read(_ data: Data) -> ArchiveError.Code? {
            code {
                try KeyedUnarchiver.unarchivedObject(ofClass: NSArray.self, allowing: [NSData.self], from: data)
            }
        }
        #expect(read(data(20_000)) == .limitExceeded)
        #expect(read(data(1_000)) == nil)
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func hintsThatAreOneLongName() throws {
        var archive = HandmadeArchive()
        let long = archive.ascii(String(repeating: "k", count: 4_000))
        let hints = archive.array([Int](repeating: long, count: 255) + [archive.name("NSDate")])
        let chain = archive.array([long])
        let cls = archive.dictionary(
            [archive.name("$classname"), archive.name("$classes"), archive.name("$classhints")],
            [long, chain, hints]
        )
        let members = (0..<300).map { _ in
            let number = archive.real(Self.date)
            let reference = archive.uid(archive.place(cls))
            return archive.uid(
                archive.place(
                    archive.dictionary([archive.name("NS.time"), archive.name("$class")], [number, reference])
                )
            )
        }
        let data = archive.bytes(root: archive.collection("NSArray", members))
        #expect(data.count < 30_000)
        #expect(code { try read(data) } == .limitExceeded)
    }
}

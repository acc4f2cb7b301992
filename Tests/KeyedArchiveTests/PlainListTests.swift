import Foundation
import Testing

@testable import KeyedArchive

/// Arrays of the commonest types have a short way through the decoder. It gives the same values and the same errors as
/// the long one.
@Suite struct PlainListTests {
    /// An array that is decoded by a container, a member at a time.
    private struct MemberByMember<Member: Decodable>: Decodable {
        var members: [Member] = []

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd { members.append(try container.decode(Member.self)) }
        }
    }

    private enum Outcome: Equatable {
        case values(String)
        case error(ArchiveError.Code, String, keyPath: [String])

        init(_ body: () throws(ArchiveError) -> some Any) {
            do throws(ArchiveError) {
                self = .values("\(try body())")
            } catch {
                self = .error(error.code, error.message, keyPath: error.keyPath)
            }
        }
    }

    private static var lists: [Any] {
        let long = String(repeating: "x", count: 5_000)
        return [
            [], ["a", "", "$null", "Lavāsān", long], [NSMutableString(string: "m"), "a"], ["a", 1], [1, "a"],
            [0, -1, Int.max, Int.min], [1, UInt64.max], [1, 1.5], [1.0, 2.0], [true, false, 1],
            [0.1, -Double.infinity],
            [Double.nan], [Float.pi], [1e300], [NSNull(), "a"], ["a", NSNull()], [1, NSNull()], [Date(), "a"],
            [Data([1]), 2], [["a"], "b"], [["k": "v"]], ["k": "v"], Set(["a"]), Set([1]), "no list", 7, NSNull(),
            NSMutableArray(array: ["a", "b"]), NSOrderedSet(array: ["a"]), Array(repeating: "same", count: 300),
        ]
    }

    private func check<Member: Decodable>(_ type: Member.Type) throws {
        var wholeCount = 0
        for list in Self.lists {
            for root in [[list], [["first"], list], [[1], list], [[0.5], list]] as [[Any]] {
                let data = try KeyedArchiver.archivedData(withRootObject: root)
                let short = Outcome { () throws(ArchiveError) in
                    try KeyedUnarchiver.unarchivedValue(of: [[Member]].self, from: data)
                }
                let long = Outcome { () throws(ArchiveError) in
                    try KeyedUnarchiver.unarchivedValue(of: [MemberByMember<Member>].self, from: data).map(
                        \.members
                    )
                }
                #expect(short == long, "\(list)")
                if case .values = short { wholeCount += 1 }
            }
        }
        #expect(wholeCount > 3)
    }

    @Test func stringsAreTheSame() throws { try check(String.self) }
    @Test func integersAreTheSame() throws { try check(Int.self) }
    @Test func numbersAreTheSame() throws { try check(Double.self) }
}

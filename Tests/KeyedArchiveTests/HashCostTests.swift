import Foundation
import Testing

@testable import KeyedArchive

/// Members of sets that many sets share: their hashes and comparisons are work that the archive's size must justify.
struct HashCostTests {
    private static let text = String(repeating: "k", count: 50_000)

    /// Longer, because each set has an object of its own, which shares the text alone.
    private static var names: NSPersonNameComponents {
        var names = PersonNameComponents()
        names.phoneticRepresentation = PersonNameComponents(givenName: text + text + text + text)
        return names as NSPersonNameComponents
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["NSMutableString", "NSURL", "NSURLQueryItem", "NSPersonNameComponents"]
    )
    func longMembersAreNotHashedForEver(className: String) throws {
        let member: NSObject =
            switch className {
            case "NSMutableString": NSMutableString(string: Self.text)
            case "NSURL": try #require(NSURL(string: "http://a/" + Self.text))
            case "NSURLQueryItem": NSURLQueryItem(name: "a", value: Self.text)
            default: Self.names
            }
        func archive(_ count: Int) throws -> Data {
            try KeyedArchiver.archivedData(withRootObject: (0..<count).map { _ in Set([member]) })
        }
        func read(_ data: Data) throws -> Int {
            try KeyedUnarchiver.unarchivedRoot(ofClass: [Set<AnyHashable>].self, from: data).count
        }
        #expect(try read(archive(10)) == 10)
        let error = #expect(throws: ArchiveError.self) { try read(archive(3_000)) }
        #expect(error?.code == .limitExceeded)
    }

    /// Numbers beyond 2⁶⁴ have one hash in Foundation; a list of members may be shared by any number of sets.
    @Test(arguments: [0, 100, 1_024, 5_000]) func comparisonsOfSmallCollectionsAreCharged(count: Int) throws {
        var crowd = HashCrowd(memberCount: count)
        var spent = 0
        for member in 0..<count {
            _ = try crowd.admit(member) { (units: Int) throws(ArchiveError) in spent += units }
        }
        // No more than an archive is granted for the references to so many members.
        #expect(spent <= 32 * count && spent >= min(count, 1_024) * (min(count, 1_024) - 64) / 64)
    }
}

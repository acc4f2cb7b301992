import Foundation
import TestSupport
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
        .timeLimit(.minutes(1 * slowness)),
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

    /// Texts of one hash in Foundation, which hashes the ends and the middle of long ones.
    private static func textsOfOneHash(_ count: Int) -> [String] {
        let (start, end) = (String(repeating: "a", count: 40), String(repeating: "b", count: 152))
        return (0..<count).map { "\(start)\($0 + 10_000_000)\(end)" }
    }

    /// The lists of members are small, and may be shared by any number of collections.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["NSSet", "NSMutableSet"])
    func textsOfOneHashAreNotComparedForEver(className: String) throws {
        let texts = Set(Self.textsOfOneHash(1_024))
        #expect(Set(texts.map { NSString(string: $0).hash }).count == 1)
        func read(_ count: Int) throws -> Int? {
            let archiver = KeyedArchiver()
            archiver.setClassName(className, for: NSSet.self)
            archiver.encode(Array(repeating: texts, count: count), forKey: "sets")
            let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
            let sets = unarchiver.decodeObject(forKey: "sets") as? [Any]
            try unarchiver.finishDecoding()
            return sets?.count
        }
        #expect(try read(1) == 1)
        let error = #expect(throws: ArchiveError.self) { try read(20) }
        #expect(error?.code == .limitExceeded)
    }

    /// As many members as may share a hash are never refused: each has a place and bytes of its own.
    @Test func membersOfOneHashThatAreNotSharedAreAdmitted() throws {
        let numbers = (1...HashCrowd.limit).map { Double($0) * 0x1p70 }
        #expect(Set(numbers.map { NSNumber(value: $0).hash }).count == 1)
        let texts = Self.textsOfOneHash(HashCrowd.limit)
        for members in [NSSet(array: numbers), NSSet(array: texts)] {
            let archive = try KeyedArchiver.archivedData(withRootObject: members)
            let set = try KeyedUnarchiver.unarchivedRoot(ofClass: Set<AnyHashable>.self, from: archive)
            #expect(set.count == HashCrowd.limit)
        }
    }
}

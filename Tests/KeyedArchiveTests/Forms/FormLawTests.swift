import Foundation
import Testing

@testable import KeyedArchive

/// Every archived value comes back, of any Foundation class and at any place.
@Suite struct FormLawTests {
    @Test(arguments: FormSample.all) func comesBackFromTheRoot(_ sample: FormSample) throws {
        let original = try sample.make()
        let data = try KeyedArchiver.archivedData(withRootObject: original)
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: Any.self, from: data)
        #expect(sample.isSame(decoded, original), "\(decoded), not \(original)")
    }

    @Test(arguments: FormSample.all) func comesBackFromCollections(_ sample: FormSample) throws {
        let original = try sample.make()
        let data = try KeyedArchiver.archivedData(withRootObject: ["list": [original, original], "one": original])
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: [String: Any].self, from: data)
        let members = try #require(decoded["list"] as? [Any])
        #expect(members.count == 2)
        for member in members { #expect(sample.isSame(member, original)) }
        #expect(sample.isSame(try #require(decoded["one"]), original))
    }

    @Test(arguments: FormSample.all) func comesBackSecurelyWhereItsClassIsAskedFor(_ sample: FormSample) throws {
        let original = try sample.make()
        let archiver = KeyedArchiver(requiringSecureCoding: true)
        archiver.encode(original, forKey: "value")
        guard sample.isSecure else {
            let error = #expect(throws: ArchiveError.self) { try archiver.encodedData }
            #expect(error?.code == .classNotAllowed)
            return
        }
        let data = try archiver.encodedData
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        // Members of collections are asked for like the collections.
        let members: [AnyClass] = [
            NSString.self, NSNumber.self, NSArray.self, NSDate.self, NSUUID.self, NSURL.self,
        ]
        let classes = original is any ArchiveCollection ? [sample.type] + members : [sample.type]
        let decoded = try #require(unarchiver.decodeObject(of: classes, forKey: "value"))
        try unarchiver.finishDecoding()
        #expect(sample.isSame(decoded, original))
        // And nowhere else.
        let other = try KeyedUnarchiver(forReadingFrom: data)
        #expect(other.decodeObject(of: [NSUUID.self], forKey: "value") == nil)
        #expect((other.error as? ArchiveError)?.code == .typeMismatch)
    }

    @Test(arguments: FormSample.all) func isNamedAsAppleNamesIt(_ sample: FormSample) throws {
        #expect(try ArchivedForms(of: sample.make()).rootClass == sample.className)
    }

    @Test(arguments: FormSample.all) func isTheSameArchiveTheSecondTime(_ sample: FormSample) throws {
        let first = try KeyedArchiver.archivedData(withRootObject: sample.make())
        let decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: Any.self, from: first)
        let second = try KeyedArchiver.archivedData(withRootObject: decoded)
        let (once, twice) = (try ArchivedForms(first).root, try ArchivedForms(second).root)
        // Dictionaries and sets have no order; the same letters, then.
        #expect(once.sorted() == twice.sorted(), "\(once), then \(twice)")
    }
}

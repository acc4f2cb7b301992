import Foundation
import KeyedArchive
import SequentialArchive
import Testing

/// Objects out of archives of Apple's `NSArchiver`, and back.
@Suite(.enabled(if: Fixtures.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
struct FixtureObjectTests {
    private func object<T>(_ name: String, as type: T.Type = T.self) throws -> T {
        let read = try SequentialUnarchiver.unarchivedObject(ofClass: type, from: Fixtures.data(name))
        return try #require(read)
    }

    @Test func everyFixtureDecodesToItsObjects() throws {
        #expect(try object("NSString") == "Hello, world")
        let mutable: NSMutableString = try object("NSMutableString")
        #expect(mutable == "Hello, world")
        #expect(try object("NumberBool") == true)
        #expect(try object("NumberFloat") == Float(3.5))
        #expect(try object("NumberInt64") == Int64(-9_000_000_000))
        #expect(try object("NSDate") == Date(timeIntervalSinceReferenceDate: 21_692_800))
        let list: [Any] = try object("NSArray")
        #expect(list.count == 3)
        #expect(list[0] as? String == "a")
        #expect(list[1] as? Int == 1)
        #expect(list[2] as? String == "b")
        let nested: [Any] = try object("NSArrayNested")
        #expect(nested[0] as? String == "top")
        #expect(nested[1] as? [Int] == [1, 2])
        let dictionary: [String: Any] = try object("NSDictionary")
        #expect(dictionary["k2"] as? String == "v")
        #expect(dictionary["k1"] as? Int == 1)
        let array: NSMutableArray = try object("NSMutableArray")
        #expect(array.count == 2)
        let mutableDictionary: NSMutableDictionary = try object("NSMutableDictionary")
        #expect(mutableDictionary["key"] as? Int == 9)
        let url: URL = try object("NSURLRelative")
        #expect(url.baseURL?.absoluteString == "https://example.com/dir/")
        #expect(url.relativeString == "page.html")
        let text: NSAttributedString = try object("NSAttributedString")
        #expect(text.string == "Hello, world")
        let scalars: [Any] = try object("NestedScalars")
        #expect(scalars[0] as? Date == Date(timeIntervalSinceReferenceDate: 21_692_800))
        #expect((scalars[1] as? URL)?.absoluteString == "https://example.com/path?q=1")
        #expect((scalars[2] as? URL)?.relativeString == "page.html")
        #expect(scalars[3] is NSNull)
        let containers: [Any] = try object("NestedContainers")
        #expect(containers[0] as? [Int] == [1, 2])
        #expect(containers[1] is NSMutableArray)
        #expect((containers[2] as? [Any])?.isEmpty == true)
        #expect((containers[3] as? [String: Int]) == ["k": 9])
        #expect((containers[5] as? Set<String>) == ["s"])
        #expect((containers[6] as? NSMutableSet)?.contains("ms") == true)
        #expect(try Fixtures.all().count == 15, "a fixture that is not looked at here")
    }

    @Test func whatWasDecodedIsEncodedToTheSameBytes() throws {
        for (name, data) in try Fixtures.all() {
            let read = try SequentialUnarchiver.unarchiveObject(with: data)
            let object = try #require(read)
            // The order of two keys is Swift's choice.
            if name.hasSuffix("__NSDictionary") { continue }
            #expect(try SequentialArchiver.archivedData(withRootObject: object) == data, "\(name)")
        }
    }

    @Test func everyTruncationAndFlipGivesAnObjectOrAnError() throws {
        for (name, data) in try Fixtures.all() {
            for count in 0..<data.count {
                #expect(throws: ArchiveError.self, "\(name), \(count) bytes") {
                    try SequentialUnarchiver.unarchiveObject(with: data.prefix(count), allowing: [NSObject.self])
                }
            }
            for bit in bits(of: data) {
                var broken = data
                broken[bit / 8] ^= 1 << UInt8(bit % 8)
                do throws(ArchiveError) {
                    _ = try SequentialUnarchiver.unarchiveObject(with: broken, allowing: [NSObject.self])
                } catch {
                    #expect(!error.message.isEmpty)
                }
            }
        }
    }
}

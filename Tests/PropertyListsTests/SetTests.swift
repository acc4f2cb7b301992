import Foundation
import TestSupport
import Testing

@testable import PropertyLists

/// Sets of binary lists as objects, and texts that are canonically equivalent and differ in their bytes.
struct SetTests {
    /// A binary list with its first object as the root.
    private func binary(_ objects: [[UInt8]]) -> Data {
        func big(_ number: Int, _ width: Int) -> [UInt8] {
            (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += big(bytes.count, 4)
            bytes += object
        }
        let table = bytes.count
        return Data(bytes + offsets + [0, 0, 0, 0, 0, 0, 4, 2] + big(objects.count, 8) + big(0, 8) + big(table, 8))
    }

    /// The root, an array or a set of the objects with these numbers.
    private func container(_ marker: UInt8, _ members: some Sequence<Int>) -> [UInt8] {
        let references = members.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let count = references.count / 2
        return [marker | 15, 0x11, UInt8(count >> 8), UInt8(count & 255)] + references
    }

    private func code(_ data: Data) -> PropertyListError.Code? {
        do throws(PropertyListError) {
            _ = try PropertyListObjects.propertyList(from: data)
            return nil
        } catch {
            #expect(error.offset != nil)
            return error.code
        }
    }

    @Test(.timeLimit(.minutes(1 * slowness))) func containersAreNoMembers() {
        let arrays = [[UInt8]](repeating: container(0xA0, [4_001]), count: 4_000)
        #expect(code(binary([container(0xC0, 1...4_000)] + arrays + [[0x09]])) == .limitExceeded)
        for marker in [0xA0, 0xC0, 0xD0] as [UInt8] {
            #expect(code(binary([container(0xC0, [1, 2]), [0x09], [marker]])) == .limitExceeded, "\(marker)")
        }
    }

    /// Foundation hashes data by its first 80 bytes.
    @Test(.timeLimit(.minutes(1 * slowness))) func fewMembersMayShareAHash() throws {
        func data(_ count: Int) -> Data {
            let members = (0..<count).map { number in
                [0x4F, 0x10, 102] + [UInt8](repeating: 1, count: 100) + [UInt8(number >> 8), UInt8(number & 255)]
            }
            return binary([container(0xC0, 1...count)] + members)
        }
        #expect(code(data(20_000)) == .limitExceeded)
        #expect(code(data(1_024)) == .limitExceeded)
        let set = try PropertyListObjects.propertyList(from: data(200))
        #expect((set as? NSSet)?.count == 200)
    }

    /// Members that overlap in a short list.
    @Test(.timeLimit(.minutes(1 * slowness))) func dataThatOverlapsIsNotComparedForEver() {
        let (count, length) = (1_024, 20_000)
        // Each member begins with the marker of the next one.
        let marker: [UInt8] = [0x4F, 0x12, 0, 0, UInt8(length >> 8), UInt8(length & 255)]
        let heads = [[UInt8]](repeating: marker, count: count)
        let rest = (0..<length).map { UInt8(truncatingIfNeeded: $0 >> 3) }
        #expect(code(binary([container(0xC0, 1...count)] + heads + [rest])) == .limitExceeded)
    }

    /// Foundation hashes long texts by parts of them.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["b", "\u{E9}"]) func fewKeysMayShareAHash(end: String)
        throws
    {
        func list(_ count: Int) -> Data {
            let (start, end) = (String(repeating: "a", count: 40), String(repeating: end, count: 152))
            let pairs = (0..<count).map { "<key>\(start)\($0 + 10_000_000)\(end)</key><true/>" }
            return Data("<plist version=\"1.0\"><dict>\(pairs.joined())</dict></plist>".utf8)
        }
        func object(_ data: Data, _ options: PropertyListObjects.ReadOptions) throws -> Any {
            try PropertyListObjects.propertyList(from: data, options: options)
        }
        let many = list(30_000)
        #expect(try (object(many, .immutable) as? [String: Any])?.count == 30_000)
        let error = #expect(throws: PropertyListError.self) { try object(many, .mutableContainers) }
        #expect(error?.code == .limitExceeded && error?.offset != nil)
        let few = try object(list(1_024), .mutableContainers)
        #expect((few as? NSMutableDictionary)?.count == 1_024)
    }

    /// Foundation's numbers beyond 2^64 have one hash, and texts can be made to.
    @Test(.timeLimit(.minutes(1 * slowness))) func setsThatAreUsedAgainAndAgainAreNotComparedForEver() throws {
        let members = (0..<1_000).map { [0x11, UInt8($0 >> 8), UInt8($0 & 255)] }
        func list(_ uses: Int) -> Data {
            binary([container(0xA0, Array(repeating: 1, count: uses)), container(0xC0, 2...1_001)] + members)
        }
        #expect(code(list(10)) == nil)
        #expect(code(list(4_000)) == .limitExceeded)
    }

    /// Of one hash in Foundation, which hashes the ends and the middle of long texts.
    @Test(.timeLimit(.minutes(1 * slowness))) func textsOfOneHashAreNotComparedForEver() throws {
        let texts = (0..<1_024).map { number in
            let text =
                String(repeating: "a", count: 40) + "\(number + 10_000_000)" + String(repeating: "b", count: 152)
            return [0x5F, 0x10, UInt8(text.utf8.count)] + Array(text.utf8)
        }
        func list(_ marker: UInt8, _ uses: Int) -> Data {
            var root = container(marker, 2...1_025)
            if marker == 0xD0 { root[2...3] = [2, 0] }
            return binary([container(0xA0, Array(repeating: 1, count: uses)), root] + texts)
        }
        for marker in [0xC0, 0xD0] as [UInt8] {
            func count(_ uses: Int) throws -> Int? {
                let data = list(marker, uses)
                let list = try PropertyListObjects.propertyList(
                    from: data,
                    options: .mutableContainers
                )
                return (list as? NSArray)?.count
            }
            #expect(try count(1) == 1)
            let error = #expect(throws: PropertyListError.self) { try count(40) }
            #expect(error?.code == .limitExceeded)
        }
    }

    @Test func manyMembersAreRead() throws {
        let members = (0..<3_000).map { [0x11, UInt8($0 >> 8), UInt8($0 & 255)] }
        let data = binary([container(0xC0, 1...3_000)] + members)
        let set = try PropertyListObjects.propertyList(from: data)
        #expect((set as? NSSet)?.count == 3_000)
    }

    private static let options: [PropertyListObjects.ReadOptions] = [
        .immutable, .mutableContainers, .mutableContainersAndLeaves,
    ]

    /// Foundation on Linux ends the process when a table of its own that holds both texts grows. That depends on the seed
    /// of the hashes, so that there are many.
    @Test(arguments: options) func equalTextsAreOneMember(options: PropertyListObjects.ReadOptions) throws {
        let texts: [[UInt8]] = [[0x61, 0x00, 0xE9], [0x62, 0x00, 0x65, 0x03, 0x01], [0x51, 0x61]]
        let sets = [[UInt8]](repeating: container(0xC0, 301...303), count: 300)
        let data = binary([container(0xA0, 1...300)] + sets + texts)
        let list = try PropertyListObjects.propertyList(from: data, options: options)
        let read = try #require(list as? NSArray ?? (list as? [Any]).map { NSArray(array: $0) })
        #expect(read.count == 300)
        for set in read { #expect(((set as? Set<AnyHashable>)?.count ?? (set as? NSSet)?.count) == 2) }
    }

    @Test(arguments: options, [PropertyListFormat.binary, .xml])
    func equalTextsAreOneKey(options: PropertyListObjects.ReadOptions, format: PropertyListFormat) throws {
        let entries = ["a", "\u{E9}", "e\u{301}"].enumerated().map { index, key in
            PropertyList.Entry(key: key, value: PropertyList(.integer(Int64(index))))
        }
        let dictionary = PropertyList(.dictionary(entries))
        let data = try PropertyList(.array(Array(repeating: dictionary, count: 300))).data(format: format)
        let list = try PropertyListObjects.propertyList(from: data, options: options)
        let read = try #require(list as? NSArray ?? (list as? [Any]).map { NSArray(array: $0) })
        #expect(read.count == 300)
        for dictionary in read {
            let values = (dictionary as? [String: Int]) ?? (dictionary as? NSDictionary) as? [String: Int]
            #expect(values == ["a": 0, "\u{E9}": format == .binary ? 1 : 2])
        }
    }
}

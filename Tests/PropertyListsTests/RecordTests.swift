import Foundation
import TestSupport
import Testing

@testable import PropertyLists

/// Lists of dictionaries with the same keys, which readers and writers remember.
struct RecordTests {
    /// Records with their keys in an order of their own, now and then with another key, one less, or one twice.
    private func records(_ count: Int, keys: Int, seed: Int, hasDuplicates: Bool) -> PropertyList {
        var random = SeededGenerator(seed: seed)
        // Beginnings and ends of each other, and of all lengths.
        let names = (0..<keys).map { String(repeating: "key", count: $0 % 9) + "\($0)" + ($0 % 5 == 0 ? "ü" : "") }
        return PropertyList(
            .array(
                (0..<count).map { number in
                    var entries = names.shuffled(using: &random).map { name in
                        PropertyList.Entry(key: name, value: PropertyList(.string("\(name) of \(number)")))
                    }
                    switch number % 7 {
                    case 3: entries[0].key = "other \(number)"
                    case 4: entries.removeLast()
                    case 5 where hasDuplicates:
                        entries[entries.count - 1] = entries[0]
                        entries[0].value = PropertyList(.string("twice"))
                    case 6:
                        entries[0].value = PropertyList(
                            .dictionary(entries.map { PropertyList.Entry(key: $0.key, value: $0.value) })
                        )
                    default: break
                    }
                    return PropertyList(.dictionary(entries))
                }
            )
        )
    }

    /// The objects of a tree, each dictionary filled key by key.
    private func object(_ list: PropertyList, lastCounts: Bool) -> Any {
        switch list.value {
        case .array(let members): return members.map { object($0, lastCounts: lastCounts) }
        case .dictionary(let entries):
            return Dictionary(entries.map { ($0.key, object($0.value, lastCounts: lastCounts)) }) {
                lastCounts ? $1 : $0
            }
        case .string(let text): return text
        default: return false
        }
    }

    @Test(arguments: PropertyListFormat.allCases, [1, 2, 8, 40, 64, 65, 100])
    func eachHasItsOwnValues(format: PropertyListFormat, keys: Int) throws {
        for seed in seeds(0..<10) {
            let list = records(60, keys: keys, seed: seed, hasDuplicates: true)
            let data = try list.data(format: format)
            let wanted = object(list, lastCounts: format != .binary)
            let read = try PropertyListObjects.propertyList(from: data)
            #expect(isEqual(read, wanted), "seed \(seed)")
            for options in [PropertyListObjects.ReadOptions.mutableContainers, .mutableContainersAndLeaves] {
                let changeable = try PropertyListObjects.propertyList(from: data, options: options)
                #expect(isEqual(changeable, wanted), "seed \(seed)")
            }
        }
    }

    @Test(arguments: [PropertyListFormat.binary, .xml])
    func othersReadTheSame(format: PropertyListFormat) throws {
        for seed in seeds(0..<10) {
            let list = records(30, keys: 9, seed: seed, hasDuplicates: false)
            let data = try list.data(format: format)
            let theirs = try PropertyListSerialization.propertyList(from: data, format: nil)
            #expect(isEqual(try PropertyListObjects.propertyList(from: data), theirs), "seed \(seed)")
        }
    }

    @Test(arguments: PropertyListFormat.allCases, [3, 15, 16, 17, 80])
    func encodedDictionariesComeBack(format: PropertyListFormat, keys: Int) throws {
        let values = (0..<20).map { number in
            Dictionary(uniqueKeysWithValues: (0..<keys).map { ("key \($0)", "\($0 * number)") })
        }
        let coder = PropertyListCoder(outputFormat: format)
        #expect(try coder.decode([[String: String]].self, from: coder.encode(values)) == values)
    }

    private struct Repeated: Encodable {
        struct Key: CodingKey {
            let stringValue: String
            let intValue: Int? = nil
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let keys: Int

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            for round in 0..<3 {
                for key in 0..<keys {
                    try container.encode("\(round) \(key)", forKey: Key(stringValue: "key \(key)"))
                }
            }
        }
    }

    private final class Keeper: Encodable {
        var encoder: (any Encoder)?
        var keyed: KeyedEncodingContainer<Repeated.Key>?
        var unkeyed: (any UnkeyedEncodingContainer)?

        func encode(to encoder: any Encoder) throws {
            self.encoder = encoder
            keyed = encoder.container(keyedBy: Repeated.Key.self)
            try keyed?.encode(1, forKey: Repeated.Key(stringValue: "a"))
            unkeyed = keyed?.nestedUnkeyedContainer(forKey: Repeated.Key(stringValue: "b"))
            try unkeyed?.encode("c")
        }
    }

    /// A value that encodes into an encoder that it has kept comes too late, and does no harm.
    @Test func anEncoderThatIsKeptChangesNothing() throws {
        let keeper = Keeper()
        let data = try PropertyListCoder().encode(keeper)
        for number in 0..<20 {
            try keeper.keyed?.encode("late", forKey: Repeated.Key(stringValue: "late \(number)"))
            try keeper.keyed?.encode([1, 2], forKey: Repeated.Key(stringValue: "a"))
            try keeper.unkeyed?.encode(number)
            var single = keeper.encoder?.singleValueContainer()
            try single?.encode("late")
            var other = keeper.encoder?.unkeyedContainer()
            try other?.encode(["late"])
        }
        let read = try PropertyListObjects.propertyList(from: data)
        #expect(isEqual(read, ["a": 1, "b": ["c"]] as [String: Any]))
    }

    @Test(arguments: [1, 2, 15, 16, 40, 300])
    func theLastValueOfAnEncodedKeyCounts(keys: Int) throws {
        let data = try PropertyListCoder().encode([Repeated(keys: keys), Repeated(keys: keys)])
        let wanted = Dictionary(uniqueKeysWithValues: (0..<keys).map { ("key \($0)", "2 \($0)") })
        #expect(try PropertyListCoder().decode([[String: String]].self, from: data) == [wanted, wanted])
        let tree = try PropertyList(data)
        guard case .array(let members) = tree.value, case .dictionary(let entries) = members[0].value else {
            Issue.record("no array of dictionaries")
            return
        }
        #expect(entries.count == keys)
    }

    /// Each character that XML escapes or has no form of, at each place of a text.
    @Test func charactersAreEscapedAtEachPlace() throws {
        for count in 1...20 {
            for place in 0..<count {
                for special in [
                    "&", "<", ">", "\r", "\t", "\u{1}", "\u{1F}", "\u{7F}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "ä",
                ] {
                    var characters = Array(repeating: "a", count: count)
                    characters[place] = special
                    let text = characters.joined()
                    let list = PropertyList(.dictionary([.init(key: text, value: PropertyList(.string(text)))]))
                    #expect(try PropertyList(list.data(format: .xml)) == list, "\(text)")
                }
                var characters = Array(repeating: "z", count: count)
                characters[place] = "\u{0}"
                let list = PropertyList(.string(characters.joined()))
                #expect(throws: PropertyListError.self) { try list.data(format: .xml) }
            }
        }
    }

    /// Collections of Swift are written as Foundation writes them, those of any static type.
    @Test(arguments: [PropertyListFormat.binary, .xml])
    func collectionsOfAllTypesAreWritten(format: PropertyListFormat) throws {
        let lists: [Any] = [
            [["a": 1, "b": "c"], ["a": 2]] as [[String: Any]], [1, 2, 3] as [Int], ["a", "b"],
            [1.5, 2] as [Double],
            ["a": [1, 2], "b": []] as [String: [Int]], [["a"], []] as [[String]], [true, false], ["a": ["b": true]],
            [Data([1]), Data()], NSArray(array: [1, "a"]), NSDictionary(dictionary: ["a": 1]),
            [1, 2] as [Int8], [7, 8] as [UInt64], ["x": NSMutableString(string: "y")] as [String: NSString],
        ]
        for list in lists {
            let ours = try PropertyListObjects.data(fromPropertyList: list, format: format)
            let theirs = try PropertyListSerialization.data(
                fromPropertyList: list,
                format: format == .binary ? .binary : .xml,
                options: 0
            )
            #expect(
                isEqual(
                    try PropertyListSerialization.propertyList(from: ours, format: nil),
                    try PropertyListSerialization.propertyList(from: theirs, format: nil)
                ),
                "\(list)"
            )
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import PropertyLists

private enum Kind: String, Codable { case small, large }

private struct Item: Codable, Equatable {
    var id: UUID
    var name: String
    var kind: Kind
    var counts: [Int]
    var ratios: [String: Double]
    var date: Date
    var data: Data
    var url: URL?
    var small: UInt8
    var big: UInt64
    var flag: Bool
    var half: Float
    var children: [Item]
    var missing: [String?]

    static func sample(_ depth: Int) -> Item {
        Item(
            id: UUID(),
            name: "Größe \(depth)",
            kind: .large,
            counts: [1, -2, 3],
            ratios: ["a": 0.5, "b": 2],
            date: Date(timeIntervalSinceReferenceDate: 1_000),
            data: Data([1, 2, 3]),
            url: URL(string: "https://example.com/a"),
            small: 200,
            big: .max,
            flag: true,
            half: 0.5,
            children: depth == 0 ? [] : [sample(depth - 1), sample(0)],
            missing: ["x", nil]
        )
    }
}

private class Base: Codable { var first = 1 }

private final class Derived: Base {
    var second = "two"
    enum Keys: CodingKey { case second }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        second = try container.decode(String.self, forKey: .second)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(second, forKey: .second)
        try super.encode(to: container.superEncoder())
    }
}

struct CoderTests {
    @Test func realsBeyondFloatDoNotFit() throws {
        let coder = PropertyListCoder()
        for value in [1e300, -1e300, 3.5e38] {
            let data = try coder.encode([value])
            #expect(throws: DecodingError.self, "\(value)") { try coder.decode([Float].self, from: data) }
        }
        for value in [Double.infinity, -.infinity, 0.1, 3.4e38, 1e-60] {
            #expect(try coder.decode([Float].self, from: coder.encode([value])) == [Float(value)])
        }
    }

    /// Values that no list holds, and more values than the limits allow.
    @Test func valuesWithoutAFormAreInvalid() throws {
        func path(_ value: some Encodable, _ coder: PropertyListCoder = PropertyListCoder()) -> [String]? {
            do {
                _ = try coder.encode(value)
            } catch EncodingError.invalidValue(_, let context) {
                #expect(context.underlyingError is PropertyListError)
                return context.codingPath.map(\.stringValue)
            } catch {
                Issue.record(error)
            }
            return nil
        }
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(path(["a": [never]]) == ["a", "Index 0"])
        #expect(path(["a": ["b": never]]) == ["a", "b"])
        let small = PropertyListCoder(limits: PropertyListLimits(values: 10))
        #expect(path([Double](repeating: 1, count: 20), small) == ["Index 9"])
        #expect(path([Double](repeating: 1, count: 9), small) == nil)
    }

    @Test(arguments: [PropertyListFormat.binary, .xml, .gnuStep])
    func valuesComeBack(format: PropertyListFormat) throws {
        let item = Item.sample(3)
        let coder = PropertyListCoder(outputFormat: format)
        let data = try coder.encode(item)
        var found = PropertyListFormat.openStep
        #expect(try coder.decode(Item.self, from: data, format: &found) == item)
        #expect(found == format)
    }

    @Test(arguments: [PropertyListFormat.binary, .xml])
    func foundationDecodesWhatIsEncodedAndTheOtherWayRound(format: PropertyListFormat) throws {
        let item = Item.sample(2)
        let data = try PropertyListCoder(outputFormat: format).encode(item)
        #expect(try PropertyListDecoder().decode(Item.self, from: data) == item)
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .binary ? .binary : .xml
        #expect(try PropertyListCoder().decode(Item.self, from: encoder.encode(item)) == item)
    }

    @Test func superclassesHavePlacesOfTheirOwn() throws {
        let value = Derived()
        value.first = 5
        let data = try PropertyListCoder().encode(value)
        let back = try PropertyListCoder().decode(Derived.self, from: data)
        #expect(back.first == 5 && back.second == "two")
        #expect(try PropertyListDecoder().decode(Derived.self, from: data).first == 5)
    }

    @Test func aNestedContainerIsTheSameWheneverItIsAskedFor() throws {
        let coder = PropertyListCoder()
        let value = NestedTwice()
        #expect(try coder.decode(NestedTwice.self, from: coder.encode(value)) == value)
        #expect(try coder.decode([NestedTwice].self, from: coder.encode([value, value])) == [value, value])
        #expect(
            try PropertyListDecoder().decode(NestedTwice.self, from: PropertyListEncoder().encode(value)) == value
        )
        let object = SharesContainerToo()
        (object.base, object.own) = (1, 2)
        let back = try coder.decode(SharesContainerToo.self, from: coder.encode(object))
        #expect(back.base == 1 && back.own == 2)
    }

    @Test func twoKindsOfContainersUnderOneKeyAreAnError() throws {
        let error = #expect(throws: EncodingError.self) { try PropertyListCoder().encode(NestedInTwoKinds()) }
        guard case .invalidValue(_, let context)? = error else {
            Issue.record("another error")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["info"])
    }

    /// A value that takes a nested container's place, and the container that takes it back.
    @Test func theLastRequestForAKeyCounts() throws {
        struct Taking: Encodable {
            var isTakenBack: Bool
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: PropertyListKey.self)
                let key = PropertyListKey(stringValue: "a")
                var first = container.nestedContainer(keyedBy: PropertyListKey.self, forKey: key)
                try first.encode(1, forKey: key)
                try container.encode(["a": 2], forKey: key)
                if isTakenBack { _ = container.nestedContainer(keyedBy: PropertyListKey.self, forKey: key) }
            }
        }
        for isTakenBack in [false, true] {
            let data = try PropertyListCoder().encode(Taking(isTakenBack: isTakenBack))
            let values = try PropertyListCoder().decode([String: [String: Int]].self, from: data)
            #expect(values == ["a": ["a": isTakenBack ? 1 : 2]])
        }
    }

    /// An encoder refers to its containers: none of them stays in memory, whether the value is encoded or fails.
    @Test func encodersLeaveNothingBehind() throws {
        struct Kept: Encodable {
            let keep: (any Encoder) -> Void
            let fails: Bool
            func encode(to encoder: any Encoder) throws {
                keep(encoder)
                var container = encoder.container(keyedBy: PropertyListKey.self)
                _ = container.nestedContainer(keyedBy: PropertyListKey.self, forKey: .superclass)
                if fails { throw CocoaError(.coderInvalidValue) }
            }
        }
        for fails in [false, true] {
            weak var kept: EncodingPlace?
            let value = Kept(keep: { kept = $0 as? EncodingPlace }, fails: fails)
            if fails {
                #expect(throws: CocoaError.self) { try PropertyListCoder().encode(value) }
            } else {
                _ = try PropertyListCoder().encode(value)
            }
            #expect(kept == nil)
        }
    }

    /// A key is found by its text: in any normal form, and among any number of keys.
    @Test(arguments: [PropertyListFormat.binary, .xml], [0, 2, 20])
    func keysThatAreCanonicallyEquivalentAreFound(format: PropertyListFormat, others: Int) throws {
        struct Size: Decodable {
            enum CodingKeys: String, CodingKey {
                case size = "gr\u{F6}\u{DF}e"
                case kelvin = "K"
                case missing
            }
            var size: Int
            var kelvin: Int
            var missing: Int?
        }
        var values = ["gro\u{308}\u{DF}e": 1, "\u{212A}": 2]
        for number in 0..<others { values["other \(number)"] = number }
        let data = try PropertyListCoder(outputFormat: format).encode(values)
        let size = try PropertyListCoder().decode(Size.self, from: data)
        #expect(size.size == 1 && size.kelvin == 2 && size.missing == nil)
    }

    @Test func errorsHaveThePathsOfFoundations() throws {
        struct Inner: Codable { var number: Int8 }
        struct Outer: Codable { var inner: [Inner] }
        func path(_ error: any Error) -> String {
            switch error {
            case DecodingError.typeMismatch(_, let context): "mismatch" + names(context)
            case DecodingError.valueNotFound(_, let context): "value" + names(context)
            case DecodingError.keyNotFound(let key, let context): "key \(key.stringValue)" + names(context)
            case DecodingError.dataCorrupted(let context): "corrupted" + names(context)
            default: "\(error)"
            }
        }
        func names(_ context: DecodingError.Context) -> String {
            context.codingPath.map { " " + ($0.intValue.map(String.init) ?? $0.stringValue) }.joined()
        }
        for text in [
            "<dict/>", "<array/>", "<dict><key>inner</key><dict/></dict>",
            "<dict><key>inner</key><array><dict/></array></dict>",
            "<dict><key>inner</key><array><dict><key>number</key><string>a</string></dict></array></dict>",
            "<dict><key>inner</key><array><dict><key>number</key><integer>300</integer></dict></array></dict>",
            "<dict><key>inner</key><array><dict><key>number</key><string>$null</string></dict></array></dict>",
            "<dict>",
        ] {
            let data = Data("<?xml version=\"1.0\"?><plist version=\"1.0\">\(text)</plist>".utf8)
            let ours = #expect(throws: (any Error).self) { try PropertyListCoder().decode(Outer.self, from: data) }
            let theirs = #expect(throws: (any Error).self) {
                try PropertyListDecoder().decode(Outer.self, from: data)
            }
            #expect(try path(#require(ours)) == path(#require(theirs)), "\(text)")
        }
    }

    @Test func fragmentsAtTheTopAreRefused() {
        #expect(throws: EncodingError.self) { try PropertyListCoder().encode(5) }
        #expect(throws: EncodingError.self) { try PropertyListCoder().encode("text") }
        #expect(throws: Never.self) { try PropertyListCoder().encode(["text"]) }
    }

    @Test func theLastValueOfAKeyCounts() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: PropertyListKey.self)
                for round in 0..<2 {
                    for index in 0..<20 {
                        try container.encode(index * (round + 1), forKey: PropertyListKey(stringValue: "\(index)"))
                    }
                }
            }
        }
        let data = try PropertyListCoder().encode(Twice())
        let values = try PropertyListCoder().decode([String: Int].self, from: data)
        #expect(values.count == 20 && values["7"] == 14 && values["19"] == 38)
    }
}

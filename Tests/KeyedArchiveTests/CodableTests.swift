import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

enum Samples {
    static let city = City(
        name: "Lavāsān",
        latitude: 35.82159,
        population: 18_146,
        isCapital: false,
        founded: Date(timeIntervalSinceReferenceDate: -1e9),
        twins: ["Tehran", ""],
        mayor: Mayor(name: "A", since: 1999)
    )
}

@Suite struct CodableTests {
    private func roundTrip<T: Codable>(_ value: T) throws -> T {
        try KeyedUnarchiver.unarchivedValue(
            of: T.self,
            from: KeyedArchiver.archivedData(encoding: value)
        )
    }

    @Test func structsComeBackEqual() throws {
        #expect(try roundTrip(Samples.city) == Samples.city)
        var bare = Samples.city
        bare.founded = nil
        bare.mayor = nil
        bare.twins = []
        #expect(try roundTrip(bare) == bare)
    }

    @Test func valuesOfEveryShapeComeBackEqual() throws {
        func check<T: Codable & Equatable>(_ value: T) throws { #expect(try roundTrip(value) == value) }
        try check(1)
        try check("$null")
        try check(true)
        try check(UInt64.max)
        try check(Int64.min)
        try check(Float.pi)
        try check([1, 2, 3])
        try check([1, nil, 3])
        try check([[1], [], [2, 3]])
        try check(["a": 1, "b": 2])
        try check(["a": 1, "b": nil])
        try check([1: "a", -2: "b"])
        try check(["a": ["b": [Samples.city]]])
        try check([Kind.large: 1, Kind.small: 2])
        try check(Set([1, 2, 3]))
        try check(Date(timeIntervalSinceReferenceDate: 0.1))
        try check(Data([0, 255]))
        try check(URL(string: "https://example.com/x"))
        try check(UUID())
        try check(Decimal(string: "-12345.678901234567890"))
        try check(Shape.circle(radius: 2))
        try check(Shape.named("square", sides: 4))
        try check(Shape.nothing)
        try check([Shape.nothing, .circle(radius: 1)])
        try check(Kind.large)
        try check(Optional<Int>.none)
        try check(1..<5)
        try check(Tree(name: "a", children: [Tree(name: "b", children: []), Tree(name: "c", children: [])]))
        try check(String(repeating: "x", count: 100_000))
        try check((0..<2_000).map { Mayor(name: "n\($0 % 7)", since: $0) })
    }

    /// Values under the keys of one object, each in a container of a type that is known, or of one that is not.
    private struct Shapes: Encodable {
        enum Way { case known, generic, optional }

        enum CodingKeys: CodingKey {
            case text, integer, real, flag, date, data, url, uuid, decimal, names, numbers, choices, none
        }

        let way: Way

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            func put<T: Encodable>(_ value: T, _ key: CodingKeys) throws {
                if way == .optional {
                    try container.encode(T?.some(value), forKey: key)
                } else {
                    try container.encode(value, forKey: key)
                }
            }
            let date = Date(timeIntervalSinceReferenceDate: 7)
            let data = Data([1, 2, 3])
            let url = try #require(URL(string: "https://example.org/a"))
            let uuid = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
            if way == .known {
                try container.encode("text", forKey: .text)
                try container.encode(300, forKey: .integer)
                try container.encode(1.5, forKey: .real)
                try container.encode(true, forKey: .flag)
            } else {
                try put("text", .text)
                try put(300, .integer)
                try put(1.5, .real)
                try put(true, .flag)
            }
            try put(date, .date)
            try put(data, .data)
            try put(url, .url)
            try put(uuid, .uuid)
            try put(Decimal(12), .decimal)
            try put(["name": 1], .names)
            try put([7: "seven"], .numbers)
            try put([Shape.round: 1], .choices)
            if way == .optional {
                try container.encode([String: Int]?.none, forKey: .none)
            } else {
                try container.encodeNil(forKey: .none)
            }
        }

        private enum Shape: String, Codable { case round }
    }

    /// An archive does not tell whether the type of a value was known where it was encoded, nor whether it was optional.
    @Test func genericAndOptionalValuesAreArchivedAsOthers() throws {
        let known = try KeyedArchiver.archivedData(encoding: Shapes(way: .known))
        #expect(try KeyedArchiver.archivedData(encoding: Shapes(way: .generic)) == known)
        #expect(try KeyedArchiver.archivedData(encoding: Shapes(way: .optional)) == known)
    }

    @Test func decimalsAreDecimalNumbers() throws {
        let price = Price(amount: Decimal(string: "-19.99") ?? 0)
        let data = try KeyedArchiver.archivedData(encoding: price)
        #expect(try ArchivedForms(data).root.contains("amount: @NSDecimalNumberPlaceholder{"))
        #expect(try KeyedUnarchiver.unarchivedValue(of: Price.self, from: data) == price)

        func amount(_ value: (KeyedArchiver) -> Void) throws -> Decimal {
            let archiver = KeyedArchiver()
            let root = archiver.container(.of(Price.self), of: nil) { value(archiver) }
            archiver.writer.set("root", archiver.writer.reference(to: root))
            let data = try archiver.encodedData
            return try KeyedUnarchiver.unarchivedValue(of: Price.self, from: data).amount
        }
        // Forms of other writers: a number inline or as an object, or Decimal's own coding keys.
        #expect(try amount { $0.encode(7, forKey: "amount") } == 7)
        #expect(try amount { $0.encode(0.1, forKey: "amount") } == Decimal(string: "0.1"))
        #expect(try amount { $0.encode(UInt64.max as Any, forKey: "amount") } == Decimal(UInt64.max))
        let own = try amount { archiver in
            let uid = archiver.container(.of(Decimal.self), of: nil) {
                archiver.encode(-1, forKey: "exponent")
                archiver.encode(1, forKey: "length")
                archiver.encode(true, forKey: "isNegative")
                archiver.encode(true, forKey: "isCompact")
                archiver.encode([15, 0, 0, 0, 0, 0, 0, 0], forKey: "mantissa")
            }
            archiver.writer.set("amount", archiver.writer.reference(to: uid))
        }
        #expect(own == Decimal(string: "-1.5"))
        for refused in ["text", true, Double.infinity, Double.nan, 1e300] as [Any] {
            let error = #expect(throws: ArchiveError.self) { try amount { $0.encode(refused, forKey: "amount") } }
            #expect(error?.code == .typeMismatch)
        }
    }

    @Test func aStructLooksLikeAnObjectWithTheSameFields() throws {
        struct Twin: Codable {
            var x: Double
            var y: Double
        }
        let value = try tree(KeyedArchiver.archivedData(encoding: Twin(x: 1, y: 2)))
        let object = try tree(KeyedArchiver.archivedData(withRootObject: Point(x: 1, y: 2)))
        #expect(value.replacing("CodableTests.Twin", with: "Point") == object)
    }

    /// The objects of an archive as text, one per line.
    private func tree(_ data: Data) throws -> String {
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        guard let parts = list as? [String: Any], let objects = parts["$objects"] as? [Any] else { return "" }
        return objects.map { object in
            guard let fields = object as? [String: Any] else { return "\(object)" }
            // UIDs print as addresses; there is one.
            return fields.filter { $0.key != "$class" }.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }.joined(separator: "\n")
    }

    @Test func anObjectCanBeReadAsAStructOfItsName() throws {
        let archiver = KeyedArchiver()
        archiver.encode(Record(), forKey: "root")
        let back = try KeyedUnarchiver.unarchivedValue(of: Mayor.self, from: archiver.encodedData)
        #expect(back == Mayor(name: "N", since: 7))
    }

    @Test func aStructOfAnotherNameIsRefused() throws {
        struct Other: Codable { var name: String }
        let data = try KeyedArchiver.archivedData(encoding: Samples.city)
        for code in [
            code { try KeyedUnarchiver.unarchivedValue(of: Other.self, from: data) },
            code { try KeyedUnarchiver.unarchivedValue(of: Int.self, from: data) },
            code { try KeyedUnarchiver.unarchivedValue(of: [City].self, from: data) },
            code {
                try KeyedUnarchiver.unarchivedValue(
                    of: Other.self,
                    from: KeyedArchiver.archivedData(encoding: ["name": "x"])
                )
            },
        ] { #expect(code == .typeMismatch) }
    }

    @Test func aTypeThatStandsForAnotherComesBack() throws {
        struct Newtype: Codable, Equatable {
            var city: City
            init(_ city: City) { self.city = city }
            init(from decoder: any Decoder) throws { city = try decoder.singleValueContainer().decode(City.self) }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(city)
            }
        }
        struct Empty: Codable, Equatable {}
        #expect(try roundTrip(Newtype(Samples.city)) == Newtype(Samples.city))
        #expect(try roundTrip(Empty()) == Empty())
        let data = try KeyedArchiver.archivedData(encoding: Samples.city)
        #expect(code { try KeyedUnarchiver.unarchivedValue(of: Empty.self, from: data) } == .typeMismatch)
    }

    @Test func oneLongTextReferredToOftenComesBack() throws {
        let text = String(repeating: "long ", count: 4_000)
        let list = Array(repeating: text, count: 5_000)
        let data = try KeyedArchiver.archivedData(encoding: list)
        #expect(data.count < 100_000)
        #expect(try KeyedUnarchiver.unarchivedValue(of: [String].self, from: data) == list)
    }

    @Test func errorsNameTheWay() throws {
        struct Before: Codable {
            var list: [[String: String]]
        }
        let archiver = KeyedArchiver()
        archiver.encode(Listing(), forKey: "root")
        let error = try #require(
            throws: ArchiveError.self,
            performing: { try KeyedUnarchiver.unarchivedValue(of: Wanted.self, from: archiver.encodedData) }
        )
        #expect(error.code == .typeMismatch)
        #expect(error.keyPath == ["list", "Index 1", "count"])
    }

    struct Wanted: Codable {
        struct Member: Codable { var count: Int }
        var list: [Member]
    }

    final class Listing: NSObject, ArchiveNamed {
        let archivedForm = ArchivedForm.object(ArchivedClass(name: "KeyedArchiveTests.CodableTests.Wanted"))
        override init() {}
        required init?(coder: NSCoder) { nil }
        func encode(with coder: NSCoder) {
            coder.encode([["count": 1], ["count": "two"]] as [[String: Any]], forKey: "list")
        }
    }

    final class Record: NSObject, ArchiveNamed {
        let archivedForm = ArchivedForm.object(ArchivedClass(name: "KeyedArchiveTests.Mayor"))
        override init() {}
        required init?(coder: NSCoder) { nil }
        func encode(with coder: NSCoder) {
            coder.encode("N", forKey: "name")
            coder.encode(7.0 as Any, forKey: "since")
            coder.encode("unknown to the struct", forKey: "extra")
        }
    }

    @Test func superEncodersAndNestedContainersComeBack() throws {
        let value = Puppy(name: "Rex", tricks: ["sit"])
        let back = try roundTrip(value)
        #expect(back.name == "Rex")
        #expect(back.tricks == ["sit"])
        #expect(back.depth == 3)
    }

    @Test func aNestedContainerIsTheSameWheneverItIsAskedFor() throws {
        #expect(try roundTrip(NestedTwice()) == NestedTwice())
        #expect(try roundTrip([NestedTwice()]) == [NestedTwice()])
        let object = SharesContainerToo()
        (object.base, object.own) = (1, 2)
        let back = try roundTrip(object)
        #expect(back.base == 1 && back.own == 2)
        let error = #expect(throws: ArchiveError.self) {
            try KeyedArchiver.archivedData(encoding: NestedInTwoKinds())
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.keyPath == ["info"])
    }

    class Dog: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Puppy: Dog {
        var tricks: [String]
        var depth = 0
        enum Keys: CodingKey { case tricks, nested, inner, list, depth, after }
        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            let inner = try nested.nestedContainer(keyedBy: Keys.self, forKey: .inner)
            var list = try inner.nestedUnkeyedContainer(forKey: .list)
            depth = try list.nestedContainer(keyedBy: Keys.self).decode(Int.self, forKey: .depth)
            #expect(try container.decode(Bool.self, forKey: .after))
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            try super.encode(to: container.superEncoder())
            try container.encode(tricks, forKey: .tricks)
            var inner = nested.nestedContainer(keyedBy: Keys.self, forKey: .inner)
            var list = inner.nestedUnkeyedContainer(forKey: .list)
            var last = list.nestedContainer(keyedBy: Keys.self)
            try container.encode(true, forKey: .after)
            try last.encode(3, forKey: .depth)
        }
    }

    @Test func whoCatchesAnErrorMayGoOn() throws {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Kind.CodingKeys.self)
                try container.encode(1, forKey: .half)
                throw CocoaError(.coderInvalidValue)
            }
            enum Kind { enum CodingKeys: CodingKey { case half, whole } }
        }
        struct Careful: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Failing.Kind.CodingKeys.self)
                do { try container.encode(Failing(), forKey: .half) } catch is CocoaError {}
                try container.encode("all", forKey: .whole)
            }
        }
        let data = try KeyedArchiver.archivedData(encoding: Careful())
        #expect(code { try KeyedArchiver.archivedData(encoding: Failing()) } == .encodingFailed)
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        #expect("\(list)".contains("all"))
    }
}

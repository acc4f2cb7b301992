import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// The parts that archives of a type share come first; the parts that differ in length come last.
struct LayoutTests {
    private struct City: Codable, Equatable {
        var name: String
        var latitude: Double
        var country: String
        var population: Int
        var isCapital: Bool
        var founded: Date
        var tags: [String: Int]
    }

    private static func city(_ name: String, latitude: Double, country: String, population: Int) -> City {
        City(
            name: name,
            latitude: latitude,
            country: country,
            population: population,
            isCapital: population > 1_000,
            founded: Date(timeIntervalSinceReferenceDate: latitude),
            tags: ["mayor of \(name)": population]
        )
    }

    /// Values of every kind, nested, with parts that occur more than once.
    private static func graph(_ random: inout SeededGenerator, depth: Int = 0) -> Any {
        switch Int.random(in: 0..<(depth < 4 ? 13 : 9), using: &random) {
        case 0: return Int.random(in: -3...70_000, using: &random)
        case 1: return Double.random(in: -1...1, using: &random)
        case 2: return Bool.random(using: &random)
        case 3: return String(repeating: "long", count: Int.random(in: 0...9, using: &random))
        case 4: return ["x", "NSObject", "$class", "NS.objects", "title", "DE"].randomElement(using: &random) ?? ""
        case 5: return "\u{E9}t\u{E9} \(Int.random(in: 0...9, using: &random))"
        case 6: return Data(repeating: 7, count: Int.random(in: 0...40, using: &random))
        case 7: return Date(timeIntervalSinceReferenceDate: 1)
        case 8: return Point(x: 1, y: Double.random(in: 0...1, using: &random))
        case 9: return Derived(title: "title \(depth)", count: depth)
        case 10: return UInt64.max
        case 11:
            return Dictionary(
                uniqueKeysWithValues: (0..<3).map { ("key \($0)", graph(&random, depth: depth + 1)) }
            )
        default:
            return (0..<Int.random(in: 0...6, using: &random)).map { _ in graph(&random, depth: depth + 1) }
        }
    }

    /// Fails if an object stands before an object of an earlier part.
    private static func check(_ archive: Data, _ name: String) {
        var least = ArchiveLayout.Part.shared
        for (offset, parts) in ArchiveLayout(archive).parts {
            #expect(parts.upperBound >= least, "\(name), byte \(offset)")
            least = max(least, parts.lowerBound)
        }
    }

    @Test("The parts of an archive stand in their order", arguments: seeds(1..<51))
    func order(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let archive = try KeyedArchiver.archivedData(
            withRootObject: (0..<seed).map { _ in Self.graph(&random) }
        )
        Self.check(archive, "seed \(seed)")
        let tree = try ArchiveTree(archive)
        let rewritten = try tree.archivedData()
        Self.check(rewritten, "seed \(seed), rewritten")
        #expect(try ArchiveTree(rewritten) == tree, "seed \(seed)")
        #expect(try ArchiveTree(KeyedArchiver.convert(archive, to: .xml)).objects.count == tree.objects.count)
    }

    @Test func codableArchivesAreLaidOutTheSame() throws {
        let cities = (0..<40).map {
            Self.city("City \($0)", latitude: Double($0) / 3, country: "C\($0)", population: $0 << $0 / 2)
        }
        Self.check(try KeyedArchiver.archivedData(encoding: cities), "cities")
        for city in cities { Self.check(try KeyedArchiver.archivedData(encoding: city), city.name) }
    }

    @Test func archivesOfATypeBeginAlike() throws {
        let one = try KeyedArchiver.archivedData(
            encoding: Self.city("Alvand", latitude: 36.1893, country: "IR", population: 90_000)
        )
        let other = try KeyedArchiver.archivedData(
            encoding: Self.city("Rio de Janeiro", latitude: -22.9, country: "BR", population: 2)
        )
        let fixed = try #require(ArchiveLayout(one).parts.first { $0.parts.lowerBound == .fixed }?.offset)
        #expect(one.prefix(fixed + 1) == other.prefix(fixed + 1))
        // The shared parts include all names of keys and classes.
        for name in ["latitude", "isCapital", "NSDictionary", "NS.keys", "$classname", "$objects"] {
            #expect(one.prefix(fixed).range(of: Data(name.utf8)) != nil, "\(name)")
        }
        #expect(one.prefix(fixed).range(of: Data("Alvand".utf8)) == nil)
    }

    @Test func valuesOfOneLengthLeaveAllOffsetsAsTheyAre() throws {
        let one = ArchiveLayout(
            try KeyedArchiver.archivedData(
                encoding: Self.city("Alvand", latitude: 36.1893, country: "IR", population: 90_000)
            )
        )
        let other = ArchiveLayout(
            try KeyedArchiver.archivedData(
                encoding: Self.city("Berlin", latitude: -52, country: "DE", population: 3_000_000)
            )
        )
        #expect(one.offsets == other.offsets)
        // A name of another length moves only the parts after it.
        let third = ArchiveLayout(
            try KeyedArchiver.archivedData(
                encoding: Self.city("Rome", latitude: 41, country: "IT", population: 2_000_000)
            )
        )
        #expect(zip(one.offsets, third.offsets).filter { $0 != $1 }.count == 1)
    }

    @Test(
        "Texts and data of any size are read as they were written",
        arguments: [0, 3, 4, 1 << 18, 1 << 18 + 1, 3 << 20]
    )
    func sizes(count: Int) throws {
        let values: [Any] = [
            "name", Data(repeating: 1, count: count), 5, String(repeating: "t", count: count), 0.5,
        ]
        let archive = try KeyedArchiver.archivedData(withRootObject: values)
        Self.check(archive, "\(count)")
        let read = try KeyedUnarchiver.unarchivedObject(
            ofClasses: [NSArray.self, NSString.self, NSData.self, NSNumber.self],
            from: archive
        )
        let list = try #require(read as? [Any])
        #expect(list.count == 5)
        #expect(list[1] as? Data == values[1] as? Data && list[3] as? String == values[3] as? String)
        #expect(list[2] as? Int == 5 && list[4] as? Double == 0.5 && list[0] as? String == "name")
        // A writer that is used again begins again.
        #expect(try KeyedArchiver.archivedData(withRootObject: values) == archive)
    }
}

import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// A value decoded by the plan of its type is the one that is decoded without, for any archive.
@Suite struct ArchivePlanTests {
    private enum Color: String, Codable {
        case red, green
        case other = "$null"
    }

    private struct Part: Codable, Equatable {
        var name: String
        var size: Double
        var color: Color?
    }

    private struct Number: Codable, Equatable {
        let value: Int
        init(_ value: Int) { self.value = value }
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private struct Model: Codable, Equatable {
        var id: Int
        var title: String
        var note: String?
        var price: Double
        var share: Float?
        var isNew: Bool
        var created: Date
        var changed: Date?
        var url: URL
        var uuid: UUID
        var tags: [String]
        var part: Part
        var other: Part?
        var link: Number
        var otherLink: Number?
        var color: Color
        var parts: [Part]
        var counts: [String: Int]
    }

    private static let texts = ["", "$null", "$nul1", "five5", "nine char", "ä", "\u{1F600}", "NSDate", "$class"]

    private static func text(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: texts.randomElement(using: &random) ?? ""
        case 1: String(repeating: "x", count: .random(in: 60...300, using: &random))
        default: "text \(Int.random(in: 0..<1_000, using: &random))"
        }
    }

    private static func part(_ random: inout SeededGenerator) -> Part {
        let color: Color? = Bool.random(using: &random) ? nil : Bool.random(using: &random) ? .red : .other
        return Part(name: text(&random), size: .random(in: 0...1, using: &random), color: color)
    }

    private static func model(_ random: inout SeededGenerator) -> Model {
        func maybe<Value>(_ value: Value) -> Value? { Int.random(in: 0..<4, using: &random) == 0 ? nil : value }
        var numbers = SeededGenerator(seed: Int.random(in: 0..<1_000, using: &random))
        return Model(
            id: .random(in: -100...100_000, using: &random),
            title: text(&numbers),
            note: maybe("a note"),
            price: .random(in: 0...10, using: &random),
            share: maybe(0.5),
            isNew: .random(using: &random),
            created: Date(timeIntervalSinceReferenceDate: .random(in: 0...1e9, using: &random)),
            changed: maybe(Date(timeIntervalSinceReferenceDate: 2)),
            url: URL(fileURLWithPath: "/a/\(Int.random(in: 0..<100, using: &random))"),
            uuid: UUID(),
            tags: (0..<Int.random(in: 1...2, using: &random)).map { _ in text(&numbers) },
            part: part(&numbers),
            other: maybe(part(&numbers)),
            link: Number(.random(in: 0...9, using: &random)),
            otherLink: maybe(Number(3)),
            color: Bool.random(using: &random) ? .green : .other,
            parts: [part(&numbers)],
            counts: ["a": 1]
        )
    }

    /// Memory that no other unarchiver takes.
    private static func memory() -> UnarchiverMemory { UnarchiverMemory(isPooled: false) }

    private static func decode<Value: Decodable>(
        _ type: Value.Type,
        _ bytes: [UInt8],
        in memory: UnarchiverMemory
    ) -> Result<Value, ArchiveError> {
        bytes.withUnsafeBytes { memory.fill(with: $0) }
        return Result { () throws(ArchiveError) in try KeyedUnarchiver.unarchive(decoding: type, in: memory) }
    }

    private static func bytes(_ value: some Encodable) throws -> [UInt8] {
        [UInt8](try KeyedArchiver.archivedData(encoding: value))
    }

    private static func followsPlan(_ type: Any.Type, _ bytes: [UInt8], in memory: UnarchiverMemory) -> Bool {
        bytes.withUnsafeBytes { memory.fill(with: $0) }
        let unarchiver = try? KeyedUnarchiver(memory, decoding: type, limits: ArchiveLimits())
        return unarchiver?.plan != nil
    }

    @Test(arguments: seeds(1..<5)) func archivesOfManyShapesAreDecodedByPlans(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let memory = Self.memory()
        for _ in 0..<rounds(400, short: 60) {
            var model = Self.model(&random)
            for _ in 0..<3 {
                let isSame = try Self.decode(Model.self, Self.bytes(model), in: memory).get() == model
                #expect(isSame)
                model.id += 1
                model.title += "."
                model.created += 1
            }
        }
    }

    @Test func theThirdArchiveOfAShapeFollowsAPlan() throws {
        let memory = Self.memory()
        var random = SeededGenerator(seed: 1)
        var model = Self.model(&random)
        for _ in 0..<2 {
            model.title += "x"
            let bytes = try Self.bytes(model)
            #expect(!Self.followsPlan(Model.self, bytes, in: Self.memory()))
            #expect(try Self.decode(Model.self, bytes, in: memory).get() == model)
        }
        model.price += 1
        #expect(Self.followsPlan(Model.self, try Self.bytes(model), in: memory))
    }

    /// Each byte of an archive is changed: with plans the outcome is the one without.
    @Test(arguments: seeds(1..<4)) func changedArchivesHaveTheSameOutcomeByPlan(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let model = Self.model(&random)
        let archive = try Self.bytes(model)
        let memory = Self.memory()
        for _ in 0..<3 { _ = Self.decode(Model.self, archive, in: memory) }
        let followsPlan = Self.followsPlan(Model.self, archive, in: memory)
        #expect(followsPlan)
        for position in archive.indices {
            for _ in 0..<rounds(6, short: 1) {
                var changed = archive
                changed[position] ^= UInt8.random(in: 1...255, using: &random)
                let expected = Self.decode(Model.self, changed, in: Self.memory())
                let found = Self.decode(Model.self, changed, in: memory)
                let isSame = Self.outcome(found) == Self.outcome(expected)
                #expect(isSame, "byte \(position) of seed \(seed)")
            }
            // Plans of changed archives do no harm to a sound one.
            guard position % 16 == 0 else { continue }
            let isSame = try Self.decode(Model.self, archive, in: memory).get() == model
            #expect(isSame, "after byte \(position) of seed \(seed)")
        }
    }

    private static func outcome(_ result: Result<Model, ArchiveError>) -> String {
        switch result {
        case .success(let model): "\(model)"
        case .failure(let error): "\(error.code)"
        }
    }

    // MARK: Values that keep their decoder

    /// Keeps its container, and asks it once more.
    private final class Keeper: Codable {
        enum CodingKeys: String, CodingKey { case first, second }
        let first: String
        var second: String
        private var container: KeyedDecodingContainer<CodingKeys>?

        init(_ number: Int) { (first, second) = ("first \(number)", "second \(number)") }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            first = try container.decode(String.self, forKey: .first)
            second = ""
            self.container = container
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(first, forKey: .first)
            try container.encode(second, forKey: .second)
        }

        func finish() throws { second = try container?.decode(String.self, forKey: .second) ?? "" }
    }

    @Test func aContainerThatIsKeptStillHasItsArchive() throws {
        var kept: [Keeper] = []
        for number in 0..<20 {
            let archive = try KeyedArchiver.archivedData(encoding: Keeper(number))
            kept.append(try KeyedUnarchiver.unarchivedValue(of: Keeper.self, from: archive))
        }
        for (number, keeper) in kept.enumerated() {
            try keeper.finish()
            #expect(keeper.first == "first \(number)")
            #expect(keeper.second == "second \(number)")
        }
    }

    /// Has the archive of another one of its kind in it.
    private struct Nested: Codable, Equatable {
        var number: Int
        var inner: Data?
        var last: String
        var depth = 0

        enum CodingKeys: CodingKey { case number, inner, last }

        init(depth: Int) throws {
            number = depth
            last = "level \(depth)"
            self.depth = depth
            if depth > 0 { inner = try KeyedArchiver.archivedData(encoding: Nested(depth: depth - 1)) }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            number = try container.decode(Int.self, forKey: .number)
            inner = try container.decodeIfPresent(Data.self, forKey: .inner)
            if let inner { depth = try KeyedUnarchiver.unarchivedValue(of: Nested.self, from: inner).depth + 1 }
            last = try container.decode(String.self, forKey: .last)
        }
    }

    @Test func valuesAreDecodedWhileOthersOfTheirTypeAre() throws {
        let nested = try Nested(depth: 4)
        let archive = try KeyedArchiver.archivedData(encoding: nested)
        for _ in 0..<10 { #expect(try KeyedUnarchiver.unarchivedValue(of: Nested.self, from: archive) == nested) }
    }

    // MARK: Many types and shapes

    /// A type with ever new shapes is decoded, and only some of its archives are noted.
    @Test func everNewShapesAreDecoded() throws {
        struct List: Codable, Equatable {
            var texts: [String]
            var last: Int
        }
        let memory = Self.memory()
        for count in 0..<200 {
            let list = List(texts: (0..<count).map { "text \($0)" }, last: count)
            #expect(try Self.decode(List.self, Self.bytes(list), in: memory).get() == list)
        }
    }

    @Test func aRootOfAnotherTypeIsRefusedByPlan() throws {
        struct One: Codable { var value: Int }
        struct Two: Codable { var value: Int }
        let memory = Self.memory()
        let archive = try Self.bytes(One(value: 3))
        for _ in 0..<4 {
            #expect(try Self.decode(One.self, archive, in: memory).get().value == 3)
            guard case .failure(let error) = Self.decode(Two.self, archive, in: memory) else {
                Issue.record("decoded as another type")
                continue
            }
            #expect(error.code == .typeMismatch)
        }
    }
}

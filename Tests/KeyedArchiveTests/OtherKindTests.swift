import Foundation
import Testing

@testable import KeyedArchive

/// Values that are read as another kind than they were archived as: never an empty value in their place.
@Suite struct OtherKindTests {
    /// Every field may be absent, as in a type that has grown.
    private struct Settings: Codable, Equatable {
        var theme: String?
        var sizes: [Int]?
    }

    /// Archived under one name for every type of value.
    private struct Holder<Value: Codable>: Codable, NamedInArchives {
        static var archivedName: String { "Tests.Holder" }
        var value: Value
    }

    private static let foreign: [any Codable & Sendable] = [
        ["a", "b"], Date(timeIntervalSince1970: 1), Decimal(1.5), UUID(), [Data([1])], ["a": 1],
        [String](), Set(["a"]),
    ]

    private func code<Value: Codable>(of value: Value) throws -> (root: Bool, member: Bool) {
        let root = try KeyedArchiver.archivedData(encoding: value)
        let member = try KeyedArchiver.archivedData(encoding: Holder(value: value))
        func isRefused(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch {
                return true
            }
        }
        return (
            isRefused { _ = try KeyedUnarchiver.unarchivedValue(of: Settings.self, from: root) },
            // JSON writes an object as a dictionary, so a dictionary is read by its keys.
            value is [String: Int]
                || isRefused { _ = try KeyedUnarchiver.unarchivedValue(of: Holder<Settings>.self, from: member) }
        )
    }

    @Test(arguments: foreign.indices) func noValueOfFoundationIsAnEmptyStruct(index: Int) throws {
        let (isRootRefused, isMemberRefused) = try code(of: Self.foreign[index])
        #expect(isRootRefused, "\(Self.foreign[index])")
        #expect(isMemberRefused, "\(Self.foreign[index])")
    }

    private struct Identity: Codable, Hashable, CodingKeyRepresentable {
        var number: Int
        init(number: Int) { self.number = number }
        var codingKey: any CodingKey { Key(intValue: number) }
        init?(codingKey: some CodingKey) {
            guard let number = Int(codingKey.stringValue) else { return nil }
            self.number = number
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, Int(stringValue)) }
    }

    /// A key's type may change, and JSON has text for all of them.
    @Test func keysThatAreNumbersAreReadAsTextAndTheOtherWayRound() throws {
        let numbers = try KeyedArchiver.archivedData(encoding: Holder(value: [1: "a", -2: "b"]))
        let identities = try KeyedUnarchiver.unarchivedValue(of: Holder<[Identity: String]>.self, from: numbers)
        #expect(identities.value == [Identity(number: 1): "a", Identity(number: -2): "b"])
        let texts = try KeyedArchiver.archivedData(encoding: Holder(value: ["1": "a", "-2": "b"]))
        #expect(
            try KeyedUnarchiver.unarchivedValue(of: Holder<[Int: String]>.self, from: texts).value == [
                1: "a", -2: "b",
            ]
        )
        for text in ["01", "+1", "x", "1.0", ""] {
            let other = try KeyedArchiver.archivedData(encoding: Holder(value: [text: "a"]))
            #expect(throws: (any Error).self) {
                try KeyedUnarchiver.unarchivedValue(of: Holder<[Int: String]>.self, from: other)
            }
        }
    }
}

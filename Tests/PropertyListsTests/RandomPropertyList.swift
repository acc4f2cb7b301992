import Foundation
import TestSupport

@testable import PropertyLists

/// Random property lists of the values that a format can hold.
struct RandomPropertyList {
    private var generator: SeededGenerator
    private let format: PropertyListFormat
    private let pieces: [String]

    /// - Parameter isForPython: without the characters that XML 1.0 forbids.
    init(seed: Int, format: PropertyListFormat, isForPython: Bool = false) {
        generator = SeededGenerator(seed: seed)
        self.format = format
        pieces = Self.plain + (isForPython ? [] : ["\u{1}", "\u{8}", "\u{1B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"])
    }

    private static let plain = [
        "a", "key", "ä", "日本", "😀", "<&>\"'", "\n", "\r", "\t", "$x", "//", "a b", "]]>", "\u{2028}", "\u{7F}",
        "longer text",
    ]

    mutating func list(depth: Int = 0) -> PropertyList { PropertyList(value(depth: depth)) }

    private mutating func text() -> String {
        (0..<Int.random(in: 0...5, using: &generator)).map { _ in pieces.randomElement(using: &generator)! }
            .joined()
    }

    private mutating func value(depth: Int) -> PropertyList.Value {
        let isTyped = format != .openStep
        switch Int.random(in: 0..<(depth > 4 ? 8 : 12), using: &generator) {
        case 0 where isTyped: return .bool(Bool.random(using: &generator))
        case 1 where isTyped:
            let bits = Int.random(in: 0..<64, using: &generator)
            return .integer(Int64(bitPattern: generator.next()) >> Int64(bits))
        case 2 where isTyped: return .unsigned(UInt64.max - generator.next() % 1_000)
        case 3 where isTyped:
            let numbers = [
                0, -0.0, 1.5, 0.1, -1e300, .leastNonzeroMagnitude, .infinity, -.infinity, 1 / 3,
                123_456_789_012_345,
            ]
            return .real(numbers.randomElement(using: &generator)!)
        case 4 where isTyped:
            return .date(
                Date(
                    timeIntervalSinceReferenceDate: Double(
                        Int.random(in: -60_000_000_000...200_000_000_000, using: &generator)
                    )
                )
            )
        case 5:
            let count = Int.random(in: 0...100, using: &generator)
            return .data(Data(generator.bytes(count)))
        case 8, 9:
            return .array((0..<Int.random(in: 0...6, using: &generator)).map { _ in list(depth: depth + 1) })
        case 10, 11:
            var names: Set<String> = []
            let entries = (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ -> PropertyList.Entry? in
                let key = text()
                let value = list(depth: depth + 1)
                return names.insert(key).inserted ? PropertyList.Entry(key: key, value: value) : nil
            }
            return .dictionary(entries)
        default: return .string(text())
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Keys of any form are found, in any order.
@Suite struct KeyLookupTests {
    /// Keys that have much in common: lengths at which the format changes its form, first letters, the `$` in front
    /// that is stored as two, letters outside ASCII.
    private static let keys: [String] =
        [
            "", "k", "ke", "key", "$", "$$", "$key", "$class", "NS.keys", "ключ", "é", "e\u{301}", "key\u{0}",
            "\u{7F}",
        ]
        + [3, 4, 6, 7, 8, 9, 14, 15, 16, 17, 63, 64, 254, 255, 256, 257, 300].flatMap { length in
            let common = String(repeating: "a", count: length - 1)
            return ["\(common)x", "\(common)y", "x\(common)"]
        }

    @Test(arguments: 0..<20) func keysAreFoundInAnyOrder(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let kept = Self.keys.shuffled(using: &random).prefix(Int.random(in: 1...Self.keys.count, using: &random))
        let archiver = KeyedArchiver()
        for (number, key) in kept.enumerated() { archiver.encode(number, forKey: key) }
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
        for _ in 0..<3 {
            for key in Self.keys.shuffled(using: &random) {
                // Not `==`, which takes composed and decomposed letters for equal.
                let number = kept.firstIndex { $0.utf8.elementsEqual(key.utf8) }
                #expect(unarchiver.containsValue(forKey: key) == (number != nil), "\(key), seed \(seed)")
                #expect(unarchiver.decodeInteger(forKey: key) == number ?? 0, "\(key), seed \(seed)")
            }
        }
        #expect(unarchiver.error == nil)
    }

    @Test(arguments: 0..<20) func objectsThatAreReadInOrdersOfTheirOwnComeBack(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let bags = (0..<50).map { number in
            // Some have the same keys in the same order, others have not.
            var order = number.isMultiple(of: 3) ? SeededGenerator(seed: number % 2) : random
            let keys = Array(Self.keys.shuffled(using: &order).prefix(1 + number % 7))
            _ = random.next()
            let values = keys.map { _ in Int.random(in: 0...1_000_000, using: &random) }
            return Bag(keys: keys, values: values, order: keys.indices.shuffled(using: &order))
        }
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [Bag].self,
            allowing: [Bag.self],
            from: KeyedArchiver.archivedData(withRootObject: bags)
        )
        #expect(back.map(\.values) == bags.map(\.values), "seed \(seed)")
    }

    /// Keys that are equal for Swift and differ in their bytes, in a large object.
    @Test(.timeLimit(.minutes(1 * slowness))) func equalKeysOfOtherBytesAreFoundSoon() throws {
        let count = 4_000
        let archiver = KeyedArchiver()
        for number in 0..<count {
            archiver.encode(number, forKey: "\(number)\u{E9}")
            archiver.encode(-number, forKey: "\(number)e\u{301}")
        }
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData)
        var wrong = 0
        for number in (0..<count).reversed() {
            if unarchiver.decodeInteger(forKey: "\(number)e\u{301}") != -number { wrong += 1 }
            if unarchiver.decodeInteger(forKey: "\(number)\u{E9}") != number { wrong += 1 }
        }
        #expect(wrong == 0 && unarchiver.error == nil)
    }

    /// Other writers may give a short key a long count, or write it in UTF-16.
    @Test func keysInOtherFormsAreFoundToo() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Point(x: 1.5, y: -2))
        let plain = [UInt8](data)
        for forms in [[0x5F, 0x10, 0x01], [0x5F, 0x11, 0x00, 0x01], [0x61, 0x00]] as [[UInt8]] {
            let changed = try Self.replacing([0x51, UInt8(ascii: "y")], in: plain, by: forms + [UInt8(ascii: "y")])
            let point = try KeyedUnarchiver.unarchivedRoot(ofClass: Point.self, from: Data(changed))
            #expect(point.x == 1.5)
            #expect(point.y == -2, "\(forms)")
        }
    }

    /// Puts other bytes in the place of an object's, and moves the offsets of those after it.
    private static func replacing(_ old: [UInt8], in bytes: [UInt8], by new: [UInt8]) throws -> [UInt8] {
        let table = Int(bytes[bytes.count - 1]) | Int(bytes[bytes.count - 2]) << 8
        try #require(bytes[bytes.count - 26] == 1, "offsets of one byte")
        let at = try #require((8..<table).first { bytes[$0..<$0 + old.count].elementsEqual(old) })
        var changed = Array(bytes[..<at]) + new + bytes[(at + old.count)..<table]
        let grown = new.count - old.count
        for offset in bytes[table..<bytes.count - 32] {
            changed.append(Int(offset) > at ? offset + UInt8(grown) : offset)
        }
        changed += bytes[(bytes.count - 32)...]
        changed[changed.count - 1] += UInt8(grown)
        return changed
    }
}

/// Values under keys that it knows only when it is decoded.
private final class Bag: NSObject, NSCoding {
    let keys: [String]
    let values: [Int]
    /// In which order the keys are read.
    let order: [Int]

    init(keys: [String], values: [Int], order: [Int]) {
        self.keys = keys
        self.values = values
        self.order = order
    }

    func encode(with coder: NSCoder) {
        coder.encode(keys, forKey: "the keys")
        coder.encode(order, forKey: "the order")
        for (key, value) in zip(keys, values) { coder.encode(value, forKey: key) }
    }

    required init?(coder: NSCoder) {
        guard let keys = coder.decodeObject(forKey: "the keys") as? [String],
            let order = coder.decodeObject(forKey: "the order") as? [Int]
        else { return nil }
        var values = keys.map { _ in 0 }
        for index in order { values[index] = coder.decodeInteger(forKey: keys[index]) }
        self.keys = keys
        self.values = values
        self.order = order
    }
}

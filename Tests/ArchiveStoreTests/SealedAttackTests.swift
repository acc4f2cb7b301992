import Foundation
import Sealing
import TestSupport
import Testing

@testable import ArchiveStore

/// An attacker changes the files of an encrypted store: each change is damage or refused, never a value.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct SealedAttackTests {
    /// A small store, its files, and where the records of its entries are.
    private struct Victim {
        var files: [String: [UInt8]] = [:]
        var ranges: [String: (file: String, bytes: Range<Int>)] = [:]
        /// The latest values.
        var values: [String: [UInt8]] = [:]

        var keys: [String] { values.keys.sorted() }

        init(hasIndex: Bool, _ fill: (PackedStore, inout Victim) throws -> Void) throws {
            var made: Victim?
            try withTemporaryDirectory(inMemory: true) { path in
                let store = try SealedFolder.open(path)
                var victim = Victim()
                try fill(store, &victim)
                for key in victim.keys { victim.ranges[key] = try SealedFolder.range(of: key, in: store) }
                if hasIndex { try store.current.snapshots.write() }
                victim.files = try SealedFolder.files(path).filter { !$0.key.contains("/") }
                made = victim
            }
            self = try #require(made)
        }

        private init() {}

        mutating func save(_ key: String, _ value: [UInt8], in store: PackedStore) throws {
            try store.save(value, forKey: key, storedAt: .distantPast, expiresAt: nil)
            values[key] = value
        }

        /// The answers where some files are others; `nil` if the store is not opened.
        func answers(_ changed: [String: [UInt8]]) throws -> [String: SealedFolder.Answer]? {
            var answers: [String: SealedFolder.Answer]?
            try withTemporaryDirectory(inMemory: true) { path in
                try SealedFolder.write(files.merging(changed) { $1 }, to: path + "/cache")
                answers = try SealedFolder.answers(path + "/cache", keys)
            }
            return answers
        }

        /// Whether each key has its latest value, or none.
        func hasNoOtherValue(_ answers: [String: SealedFolder.Answer]?) -> Bool {
            (answers ?? [:]).allSatisfy { key, answer in
                if case .value(let value) = answer { value == values[key] } else { true }
            }
        }

        /// A file with the bytes of one range in place of another one of the same length.
        func replacing(
            _ target: (file: String, bytes: Range<Int>),
            with source: [UInt8]
        ) -> [String: [UInt8]] {
            var bytes = files[target.file] ?? []
            bytes.replaceSubrange(target.bytes, with: source)
            return [target.file: bytes]
        }

        func bytes(of key: String) throws -> [UInt8] {
            let range = try #require(ranges[key])
            return Array(try #require(files[range.file])[range.bytes])
        }
    }

    private func smallVictim(hasIndex: Bool) throws -> Victim {
        try Victim(hasIndex: hasIndex) { store, victim in
            for number in 0..<8 {
                let value = [UInt8](repeating: UInt8(number), count: 20)
                try victim.save("key \(number)", value, in: store)
            }
        }
    }

    /// A changed byte costs the entry whose record it is in, and no other one. In the header it costs all, or the store is
    /// not opened; in the index nothing.
    @Test(arguments: [false, true]) func everyByteCounts(hasIndex: Bool) throws {
        let victim = try smallVictim(hasIndex: hasIndex)
        for (name, bytes) in victim.files {
            let owners = victim.ranges.filter { $0.value.file == name }
            let step = name == "index" ? 7 : 1
            for position in stride(from: 0, to: bytes.count, by: step) {
                var changed = bytes
                changed[position] ^= 1 << UInt8(position % 8)
                let answers = try victim.answers([name: changed])
                #expect(victim.hasNoOtherValue(answers), "\(name), byte \(position)")
                guard let owner = owners.first(where: { $0.value.bytes.contains(position) })?.key else {
                    if name != "index" { continue }
                    #expect(answers?.values.contains { $0 == .nothing || $0 == .damaged } == false)
                    continue
                }
                let found = try #require(answers, "byte \(position)")
                for key in victim.keys {
                    let isWhole = found[key] == victim.values[key].map { .value($0) }
                    #expect(isWhole == (key != owner), "\(key), \(name), byte \(position)")
                }
            }
        }
    }

    /// Records that change their places, whole or in part.
    @Test(arguments: [false, true]) func recordsOpenAtTheirPlacesOnly(hasIndex: Bool) throws {
        let victim = try smallVictim(hasIndex: hasIndex)
        let first = try victim.bytes(of: "key 2")
        let second = try victim.bytes(of: "key 5")
        let (one, two) = (try #require(victim.ranges["key 2"]), try #require(victim.ranges["key 5"]))
        try #require(first.count == second.count)
        // Whole, then head alone, then payload alone, and its tag.
        let head = first.count - 16 - (first.count - 48) / 2
        for part in [0..<first.count, 0..<head, head..<first.count, first.count - 16..<first.count, 2..<14] {
            func exchange(_ target: [UInt8], _ source: [UInt8]) -> [UInt8] {
                var target = target
                target.replaceSubrange(part, with: source[part])
                return target
            }
            let copied = try #require(try victim.answers(victim.replacing(two, with: exchange(second, first))))
            #expect(copied["key 2"] == .value(victim.values["key 2"] ?? []))
            #expect(copied["key 5"] != .value(victim.values["key 5"] ?? []))
            #expect(victim.hasNoOtherValue(copied))
            var swapped = victim
            swapped.files.merge(victim.replacing(two, with: exchange(second, first))) { $1 }
            swapped.files.merge(swapped.replacing(one, with: exchange(first, second))) { $1 }
            let answers = try #require(try swapped.answers([:]))
            #expect(victim.hasNoOtherValue(answers))
            for key in ["key 2", "key 5"] { #expect(answers[key] != .value(victim.values[key] ?? [])) }
        }
    }

    /// A former record of a key in place of its later one.
    @Test(arguments: [false, true]) func formerValuesDoNotComeBack(hasIndex: Bool) throws {
        var former: (file: String, bytes: Range<Int>)?
        let victim = try Victim(hasIndex: hasIndex) { store, victim in
            try victim.save("key", [UInt8](repeating: 1, count: 30), in: store)
            former = try SealedFolder.range(of: "key", in: store)
            try victim.save("other", [3], in: store)
            try victim.save("key", [UInt8](repeating: 2, count: 30), in: store)
            try victim.save("last", [4], in: store)
        }
        let target = try #require(victim.ranges["key"])
        let source = try #require(former)
        let bytes = Array(try #require(victim.files[source.file])[source.bytes])
        let answers = try #require(try victim.answers(victim.replacing(target, with: bytes)))
        #expect(answers["key"] == .damaged)
        #expect(answers["other"] == .value([3]) && answers["last"] == .value([4]))
    }

    /// Segments that are cut, exchanged, given another number, from an earlier time, or from another cache with the same key.
    @Test(arguments: [false, true]) func segmentsAreThoseOfThisLog(hasIndex: Bool) throws {
        var earlier: [String: [UInt8]] = [:]
        let victim = try Victim(hasIndex: hasIndex) { store, victim in
            for number in 0..<4 {
                try victim.save("key \(number)", SeededGenerator.bytes(60_000, seed: number), in: store)
                let file = try SealedFolder.range(of: "key \(number)", in: store).file
                if earlier[file] == nil { earlier[file] = try readFile(store.path + "/" + file) }
                try victim.save("small \(number)", [UInt8(number)], in: store)
            }
        }
        let segments = victim.files.keys.filter { Segment.number($0) != nil }.sorted()
        try #require(segments.count >= 2)
        let other = try Victim(hasIndex: false) { store, victim in
            for number in 0..<4 {
                try victim.save("key \(number)", SeededGenerator.bytes(60_000, seed: number + 100), in: store)
                try victim.save("small \(number)", [99], in: store)
            }
        }
        let (first, last) = (segments[0], segments[segments.count - 1])
        let foreign = try #require(other.files[first])
        let attacks: [(String, [String: [UInt8]])] = [
            ("cut", [first: Array((victim.files[first] ?? []).dropLast(100))]),
            ("empty", [first: []]),
            ("exchanged", [first: victim.files[last] ?? [], last: victim.files[first] ?? []]),
            ("of an earlier time", [first: earlier[first] ?? []]),
            ("of another cache", [first: foreign]),
            ("zeros", [first: [UInt8](repeating: 0, count: 5_000)]),
        ]
        for (name, files) in attacks {
            let answers = try victim.answers(files)
            #expect(victim.hasNoOtherValue(answers), "\(name)")
            // The entries of the other segments are there, unless the store is not opened.
            for (key, range) in victim.ranges where files[range.file] == nil {
                guard let answers else { continue }
                #expect(answers[key] == victim.values[key].map { .value($0) }, "\(name), \(key)")
            }
        }
        // In its last place, a foreign segment is another log's, whose records are not this one's.
        #expect(victim.hasNoOtherValue(try victim.answers([last: victim.files[first] ?? []])))
    }

    /// Bits of a payload that no CRC-32 notices.
    @Test func checksumsAreNotTrusted() throws {
        let victim = try Victim(hasIndex: false) { store, victim in
            for number in 0..<3 {
                try victim.save("key \(number)", SeededGenerator.bytes(5_000, seed: number), in: store)
            }
        }
        // The polynomial of CRC-32 itself, as its bits stand in bytes: it leaves each checksum as it is.
        let pattern: [UInt8] = [0x41, 0x06, 0x71, 0xDB, 0x01]
        let target = try #require(victim.ranges["key 1"])
        var bytes = try victim.bytes(of: "key 1")
        for (index, byte) in pattern.enumerated() { bytes[2_000 + index] ^= byte }
        try withTemporaryDirectory(inMemory: true) { path in
            let files = victim.files.merging(victim.replacing(target, with: bytes)) { $1 }
            try SealedFolder.write(files, to: path + "/cache")
            let store = try SealedFolder.open(path + "/cache")
            // Written again, it is not made a sound one.
            try store.compact()
            #expect(try SealedFolder.answer(store, "key 1") != .value(victim.values["key 1"] ?? []))
            #expect([.nothing, .damaged].contains(try SealedFolder.answer(store, "key 1")))
            #expect(try SealedFolder.answer(store, "key 2") == .value(victim.values["key 2"] ?? []))
        }
    }

    /// A damaged header costs nothing where another segment tells which log it is.
    @Test func aDamagedHeaderOfSeveralCostsNothing() throws {
        let victim = try Victim(hasIndex: false) { store, victim in
            for number in 0..<4 {
                try victim.save("key \(number)", SeededGenerator.bytes(60_000, seed: number), in: store)
            }
        }
        let segments = victim.files.keys.filter { Segment.number($0) != nil }.sorted()
        try #require(segments.count >= 2)
        for name in segments {
            var bytes = try #require(victim.files[name])
            bytes[30] ^= 1
            let answers = try #require(try victim.answers([name: bytes]))
            for key in victim.keys { #expect(answers[key] == victim.values[key].map { .value($0) }, "\(name)") }
        }
    }
}

extension SeededGenerator {
    fileprivate static func bytes(_ count: Int, seed: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return generator.bytes(count)
    }
}

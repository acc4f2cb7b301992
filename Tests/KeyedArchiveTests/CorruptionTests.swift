import ArchiveTrials
import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// Archives cut off at every length, and with every byte changed, are refused or read, but never trap.
///
/// By default a part of all that is tried, another one at every run; a failure says which archive and damage it
/// was. `TYPED_CACHE_EXHAUSTIVE=1` tries all of it.
@Suite struct CorruptionTests {
    private static let isExhaustive = ProcessInfo.processInfo.environment["TYPED_CACHE_EXHAUSTIVE"] == "1"
    /// How many changed archives the default tries, and how many lengths of a large file.
    private static let share = rounds(2_000, short: 200)
    private static let large = 8 << 10

    private static func archives() throws -> [(name: String, bytes: [UInt8])] {
        var archives = try Trial.samples().map { ($0.name, [UInt8]($0.data)) }
        guard Corpus.folder != nil else { return archives }
        for file in try Corpus.files(in: "keyed") {
            let bytes = [UInt8](try Data(contentsOf: file))
            if bytes.starts(with: BinaryPropertyList.magic) { archives.append((file.lastPathComponent, bytes)) }
        }
        return archives
    }

    /// One of the ways to damage an archive, all of which have a number.
    private enum Damage {
        static let values: [@Sendable (UInt8) -> UInt8] = [
            { $0 ^ 0x01 }, { $0 ^ 0x80 }, { $0 ^ 0xFF }, { _ in 0x00 },
        ]

        /// How many there are: every length, and every value for every byte.
        static func count(_ bytes: [UInt8]) -> Int { bytes.count * (1 + values.count) }

        /// The archive with the damage of a number.
        static func applied(_ number: Int, to bytes: [UInt8]) -> [UInt8] {
            if number < bytes.count { return Array(bytes.prefix(number)) }
            let (at, value) = (number - bytes.count).quotientAndRemainder(dividingBy: values.count)
            var damaged = bytes
            damaged[at] = values[value](damaged[at])
            return damaged
        }
    }

    @Test func damagedArchivesAreRefusedOrRead() throws {
        let archives = try Self.archives()
        let total = archives.reduce(0) { $0 + Damage.count($1.bytes) }
        // An odd step, so that every value has its turn.
        let step = Self.isExhaustive ? 1 : max(1, total / Self.share) | 1
        var next = Self.isExhaustive ? 0 : Int.random(in: 0..<step)
        var tried = 0
        for (name, bytes) in archives {
            let stride = bytes.count > Self.large ? bytes.count / Self.large + 1 : 1
            while next < Damage.count(bytes) {
                try Self.read(Damage.applied(next, to: bytes), "\(name), damage \(next)")
                tried += 1
                next += step * stride
            }
            next -= Damage.count(bytes)
        }
        #expect(tried >= min(total, Self.share) / 2)
    }

    private static func read(_ bytes: [UInt8], _ name: String) throws {
        let data = Data(bytes)
        #expect(throws: Never.self, "\(name)") {
            try TreeTrial.read(bytes)
            try Trial.unarchive(data)
            try Trial.decode(data)
        }
    }

    /// Every shortened archive is incomplete: the trailer is at the end.
    @Test func noArchiveIsReadWithoutItsEnd() throws {
        for (name, bytes) in try Self.archives() {
            let step = Self.isExhaustive ? 1 : max(1, bytes.count / 16)
            for length in stride(from: 0, to: bytes.count, by: step) {
                #expect(throws: ArchiveError.self, "\(name), \(length) bytes") {
                    try ArchiveTree(Array(bytes.prefix(length)))
                }
            }
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

/// The bytes of published statistics: written and read back, and refused where they are none.
@Suite struct PublishedFormatTests {
    private func published(_ random: inout SeededGenerator) -> PublishedStatistics {
        func number() -> Int {
            Bool.random(using: &random) ? 0 : .random(in: 0...PublishedStatistics.largestNumber, using: &random)
        }
        func tier() -> TierFigures {
            var tier = TierFigures()
            for path in [\TierFigures.entryCount, \.byteCount, \.entryLimit, \.byteLimit] {
                tier[keyPath: path] = Bool.random(using: &random) ? nil : number()
            }
            return tier
        }
        var figures = CacheFigures()
        figures.memory = tier()
        figures.disk = tier()
        for path in Self.counts { figures.statistics[keyPath: path] = number() }
        figures.statistics.loadTime = .microseconds(number())
        return PublishedStatistics(
            processIdentifier: .random(in: 1...Int(Int32.max), using: &random),
            program: ["atlas", "", "ünï 🦁", String(repeating: "長", count: 85)].randomElement(using: &random)!,
            openedAt: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)),
            publishedAt: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)),
            figures: figures
        )
    }

    private static var counts: [WritableKeyPath<CacheStatistics, Int>] {
        [
            \.memoryHits, \.diskHits, \.staleHits, \.misses, \.joins, \.loads, \.revalidations, \.loadFailures,
            \.saves,
            \.expirations, \.memoryEvictions, \.diskEvictions, \.removals, \.replacements, \.clearances,
            \.corruptions,
            \.failures, \.invalidations, \.verifications,
        ]
    }

    private func read(_ bytes: [UInt8]) throws -> PublishedStatistics { try PublishedStatistics(bytes) }

    /// The bytes with a checksum that fits them.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = Array(bytes.dropLast(4))
        bytes.append(bigEndian: bytes.withUnsafeBytes { Zlib.crc32($0) })
        return bytes
    }

    @Test(arguments: seeds(0..<100)) func whatIsReadIsWhatWasWritten(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let statistics = published(&random)
        #expect(try read(statistics.bytes) == statistics)
        #expect(statistics.bytes.count <= PublishedStatistics.largestByteCount)
    }

    @Test func aNameThatIsTooLongIsCutBetweenCharacters() throws {
        var random = SeededGenerator(seed: 1)
        var statistics = published(&random)
        statistics.program = String(repeating: "👩‍👩‍👧", count: 40)
        let name = try read(statistics.bytes).program
        #expect(statistics.program.hasPrefix(name) && name.count == 255 / "👩‍👩‍👧".utf8.count)
    }

    @Test func everyChangedByteAndEveryOtherLengthIsRefused() {
        var random = SeededGenerator(seed: 2)
        let bytes = published(&random).bytes
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= UInt8.random(in: 1...255, using: &random)
            #expect(throws: CacheError.self, "byte \(place)") { try read(damaged) }
            #expect(throws: CacheError.self, "length \(place)") { try read(Array(bytes.prefix(place))) }
        }
        #expect(throws: CacheError.self) { try read(bytes + [0]) }
        #expect(throws: CacheError.self) { try read(bytes + [UInt8](repeating: 0, count: 5_000)) }
    }

    @Test func aLaterVersionIsToldFromDamage() {
        var random = SeededGenerator(seed: 3)
        var bytes = published(&random).bytes
        bytes[5] = 2
        #expect { try read(bytes) } throws: { ($0 as? CacheError)?.code == .unsupportedVersion }
        bytes[5] = 0
        #expect { try read(sealed(bytes)) } throws: { ($0 as? CacheError)?.code == .corrupted }
    }

    /// Another program may have written the file, with a checksum that fits.
    @Test func hostileFieldsAreRefusedOrBounded() throws {
        var random = SeededGenerator(seed: 4)
        let bytes = published(&random).bytes
        for number in [UInt64.max - 1, 1 << 63, UInt64(Int64.max)] {
            var huge = bytes
            for place in 0..<26 {
                huge.replaceSubrange(
                    (32 + 8 * place)..<(40 + 8 * place),
                    with: withUnsafeBytes(of: number.bigEndian, Array.init)
                )
            }
            let statistics = try read(sealed(huge)).figures.statistics
            #expect(statistics.memoryHits == PublishedStatistics.largestNumber)
            // Sums of those of many files do not trap.
            var sum = statistics
            for _ in 0..<256 { sum.add(statistics) }
            #expect(sum.hitRatio > 0)
        }
        for date in [Double.nan, .infinity, -.infinity, 1e300] {
            var strange = bytes
            strange.replaceSubrange(24..<32, with: withUnsafeBytes(of: date.bitPattern.bigEndian, Array.init))
            #expect(throws: CacheError.self, "\(date)") { try read(sealed(strange)) }
        }
        for count in [UInt16(0), 25, 27, 65, .max] {
            var strange = bytes
            strange.replaceSubrange(6..<8, with: withUnsafeBytes(of: count.bigEndian, Array.init))
            #expect(throws: CacheError.self, "\(count) numbers") { try read(sealed(strange)) }
        }
    }

    /// The format's own example: changing it makes files of former versions unreadable.
    @Test func theBytesAreThoseOfTheFormat() {
        var figures = CacheFigures()
        figures.statistics.memoryHits = 258
        figures.disk.byteLimit = 1 << 30
        let bytes = PublishedStatistics(
            processIdentifier: 4_711,
            program: "atlas",
            openedAt: Date(timeIntervalSinceReferenceDate: 7e8),
            publishedAt: Date(timeIntervalSinceReferenceDate: 7e8 + 1),
            figures: figures
        ).bytes
        #expect(
            bytes.prefix(32) == [
                0x54, 0x43, 0x4C, 0x53, 0, 1, 0, 28, 0, 0, 0, 0, 0, 0, 0x12, 0x67,
                0x41, 0xC4, 0xDC, 0x93, 0x80, 0, 0, 0, 0x41, 0xC4, 0xDC, 0x93, 0x80, 0x80, 0, 0,
            ]
        )
        #expect(bytes[32..<40] == [0, 0, 0, 0, 0, 0, 1, 2])
        #expect(bytes[(32 + 8 * 18)..<(32 + 8 * 19)] == [255, 255, 255, 255, 255, 255, 255, 255])
        #expect(bytes[(32 + 8 * 25)..<(32 + 8 * 26)] == [0, 0, 0, 0, 0x40, 0, 0, 0])
        #expect(bytes[256..<263] == [0, 5, 0x61, 0x74, 0x6C, 0x61, 0x73])
        #expect(bytes.count == 267)
    }
}

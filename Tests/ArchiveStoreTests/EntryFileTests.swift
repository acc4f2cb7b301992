import Foundation
import Testing

@testable import ArchiveStore

@Suite struct EntryFileTests {
    /// The worked example of the format's description, made without this package.
    static let golden: [UInt8] = [
        0x78, 0x01, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x06, 0x2c, 0x02, 0x15,
        0x6b,
        0x3f, 0xe0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0xf0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0d,
        0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01,
        0x96, 0x34, 0x51, 0xcc, 0x54, 0x43, 0x41, 0x45,
    ]

    static func bytes(
        _ archive: [UInt8],
        key: String = "k",
        _ change: (inout EntryAttributes) -> Void = { _ in }
    ) throws -> [UInt8] {
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: 0.5))
        change(&attributes)
        var bytes: [UInt8] = []
        let content = try EntryFile.content(archive: archive, key: try StoreKey(key), attributes: attributes)
        content.forEachPiece { bytes += $0 }
        return bytes
    }

    /// An entry with every attribute.
    private static func rich() throws -> [UInt8] {
        try bytes(Array("hello".utf8)) { attributes in
            attributes.expiresAt = Date(timeIntervalSinceReferenceDate: 100)
            attributes.idleTime = 60
            attributes.staleWhileRevalidate = 5
            attributes.staleIfError = 7.5
            attributes.loadTime = 0.25
            attributes.tags = ["blue", "größe"]
        }
    }

    /// `bytes` with a checksum that is right for them.
    static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let checksum = bytes.dropLast(8).withUnsafeBytes { Zlib.crc32($0) }
        for index in 0..<4 {
            bytes[bytes.count - 8 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(24 - 8 * index))
        }
        return bytes
    }

    /// The golden file with the bytes from `offset` on, counted from the end, replaced, and sealed again.
    static func forged(at offset: Int, _ replacement: [UInt8]) -> [UInt8] {
        var bytes = golden
        bytes.replaceSubrange(
            (bytes.count - offset)..<(bytes.count - offset + replacement.count),
            with: replacement
        )
        return sealed(bytes)
    }

    static func fault(_ bytes: [UInt8]) -> EntryFault? {
        do {
            _ = try EntryFile(verifying: bytes).archive(limit: 1 << 30)
            return nil
        } catch {
            return error
        }
    }

    static func isDamaged(_ bytes: [UInt8]) -> Bool {
        if case .damaged = fault(bytes) { true } else { false }
    }

    @Test func writesTheWorkedExample() throws {
        #expect(try Self.bytes(Array("hello".utf8)) == Self.golden)
    }

    @Test func readsTheWorkedExample() throws {
        let entry = try EntryFile(verifying: Self.golden)
        #expect(try entry.holds(StoreKey("k")))
        #expect(try !entry.holds(StoreKey("l")))
        #expect(try entry.key().string == "k")
        #expect(try entry.archive(limit: 5) == Array("hello".utf8))
        let information = entry.information(
            key: "k",
            identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
        #expect(information.storedAt == Date(timeIntervalSinceReferenceDate: 0.5))
        #expect(information.expiresAt == nil)
        #expect(information.archiveByteCount == 5 && information.storedByteCount == Self.golden.count)
    }

    /// Any zlib tool that stops at the stream's end inflates an entry.
    @Test func startsWithAZlibStream() throws {
        let archive = [UInt8]((0..<5000).map { UInt8(truncatingIfNeeded: $0 / 9) })
        let bytes = try Self.bytes(archive)
        let end = try #require(
            (1...bytes.count).first { end in
                (try? Zlib.inflate(Array(bytes[..<end]), expecting: archive.count, limit: .max)) == archive
            }
        )
        #expect(bytes[end] == UInt8(ascii: "k") && end + 1 + 48 == bytes.count)
    }

    @Test func noticesEveryChangedByte() throws {
        for position in Self.golden.indices {
            for change in 1...UInt8.max {
                var bytes = Self.golden
                bytes[position] ^= change
                #expect(Self.isDamaged(bytes), "byte \(position) ^ \(change)")
            }
        }
    }

    @Test func noticesEveryOtherLength() throws {
        for count in 0..<Self.golden.count {
            #expect(Self.isDamaged(Array(Self.golden[..<count])), "first \(count) bytes")
            #expect(Self.isDamaged(Array(Self.golden.suffix(count))), "last \(count) bytes")
        }
        for byte in UInt8.min...UInt8.max {
            #expect(Self.isDamaged(Self.golden + [byte]) && Self.isDamaged([byte] + Self.golden))
        }
        #expect(Self.isDamaged(Self.golden + Self.golden))
    }

    @Test func tellsLaterVersionsFromDamage() {
        guard case .unsupportedVersion(4) = Self.fault(Self.forged(at: 10, [0, 4])) else {
            Issue.record("version 4 was not told")
            return
        }
        #expect(Self.isDamaged(Self.forged(at: 10, [0, 0])))
        // Version 2 has attributes, version 1 has none.
        #expect(Self.isDamaged(Self.forged(at: 10, [0, 2])))
    }

    @Test func refusesSealedNonsense() throws {
        let nan = withUnsafeBytes(of: Double.nan.bitPattern.bigEndian) { Array($0) }
        let most = [UInt8](repeating: 0xff, count: 8)
        #expect(Self.isDamaged(Self.forged(at: 48, nan)))
        #expect(Self.isDamaged(Self.forged(at: 40, nan)))
        #expect(Self.isDamaged(Self.forged(at: 12, [0, 1])))
        #expect(Self.isDamaged(Self.forged(at: 32, most)))
        #expect(Self.isDamaged(Self.forged(at: 32, [0x7f] + most.dropFirst())))
        #expect(Self.isDamaged(Self.forged(at: 32, [0, 0, 0, 0, 0x20, 0, 0, 0])))
        #expect(Self.isDamaged(Self.forged(at: 32, [0, 0, 0, 0, 0, 0, 0, 4])))
        #expect(Self.isDamaged(Self.forged(at: 32, [0, 0, 0, 0, 0, 0, 0, 6])))
        #expect(Self.isDamaged(Self.forged(at: 24, most)))
        #expect(Self.isDamaged(Self.forged(at: 24, [0, 0, 0, 0, 0, 0, 0, 0x0c])))
        #expect(Self.isDamaged(Self.forged(at: 16, [0, 0, 0, 0])))
        #expect(Self.isDamaged(Self.forged(at: 16, [0xff, 0xff, 0xff, 0xff])))
        #expect(Self.isDamaged(Self.forged(at: Self.golden.count - 3, [0xff, 0xff])))
        let noText = Self.forged(at: 49, [0xff])
        #expect(throws: EntryFault.self) { try EntryFile(verifying: noText).key() }
    }

    @Test func keepsAttributes() throws {
        let bytes = try Self.rich()
        let entry = try EntryFile(verifying: bytes)
        #expect(try entry.holds(StoreKey("k")))
        #expect(try entry.key().string == "k")
        #expect(try entry.archive(limit: 5) == Array("hello".utf8))
        let attributes = entry.attributes
        #expect(attributes.storedAt == Date(timeIntervalSinceReferenceDate: 0.5))
        #expect(attributes.expiresAt == Date(timeIntervalSinceReferenceDate: 100))
        #expect(attributes.idleTime == 60 && attributes.loadTime == 0.25)
        #expect(attributes.staleWhileRevalidate == 5 && attributes.staleIfError == 7.5)
        #expect(attributes.tags == ["blue", "größe"])
        #expect(attributes.usableUntil == Date(timeIntervalSinceReferenceDate: 107.5))
        #expect(entry.footer.fileByteCount == bytes.count)
        // A reader of the file's end finds the same.
        let tail = try EntryFile(tail: Array(bytes.dropFirst(5)), fileByteCount: bytes.count, checksum: nil)
        #expect(tail.attributes == attributes)
    }

    @Test func noticesEveryChangedByteOfAttributes() throws {
        let bytes = try Self.rich()
        for position in bytes.indices {
            for change in 1...UInt8.max {
                var changed = bytes
                changed[position] ^= change
                #expect(Self.isDamaged(changed), "byte \(position) ^ \(change)")
            }
        }
        for count in bytes.indices { #expect(Self.isDamaged(Array(bytes[..<count]))) }
    }

    /// Rightly sealed attributes that no store writes: each byte of them changed.
    @Test func refusesSealedAttributesThatAreNone() throws {
        let bytes = try Self.rich()
        let start = 14
        var refused = 0
        for position in start..<(bytes.count - 48) {
            for change in [0x80, 0x7f, 0xff, 1] as [UInt8] {
                var changed = bytes
                changed[position] ^= change
                if Self.isDamaged(Self.sealed(changed)) { refused += 1 }
            }
        }
        #expect(refused > 40)
    }

    @Test func movesADeadlineAndNothingElse() throws {
        let bytes = try Self.rich()
        let moved = try EntryFile(verifying: try EntryFile(verifying: bytes).bytes(expiresAt: 300))
        var expected = try EntryFile(verifying: bytes).attributes
        expected.expiresAt = Date(timeIntervalSinceReferenceDate: 300)
        #expect(moved.attributes == expected)
        #expect(try moved.archive(limit: 5) == Array("hello".utf8))
    }

    @Test func refusesAttributesThatCannotBeWritten() throws {
        let tooMany = (0..<40).map { String(repeating: "t", count: 90) + "\($0)" }
        for change: (inout EntryAttributes) -> Void in [
            { $0.tags = [""] }, { $0.tags = tooMany }, { $0.idleTime = -1 }, { $0.staleIfError = .nan },
            { $0.tags = [String(repeating: "t", count: 70_000)] },
        ] {
            #expect(throws: StoreError.self) { try Self.bytes([1], change) }
        }
    }

    @Test func keepsToTheLimit() throws {
        let entry = try EntryFile(verifying: Self.golden)
        guard
            case .tooLarge(5) = #expect(throws: EntryFault.self, performing: { try entry.archive(limit: 4) })
        else {
            Issue.record("five bytes were inflated with a limit of four")
            return
        }
    }
}

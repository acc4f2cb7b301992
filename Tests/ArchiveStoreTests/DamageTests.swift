import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A file store whose files differ from the files that it wrote.
@Suite struct DamageTests {
    /// A store of the entry `key` and another one of the same name, and the path of the first one's file.
    private func withEntry(_ body: (FileStore, String) throws -> Void) throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true) { _ in
                EntryName(high: 0x0102_0304_0506_0708, low: 9)
            }
            try store.save(Array("an archive".utf8), forKey: "key", storedAt: .now, expiresAt: nil)
            try body(store, try #require(entries(in: store.path).first))
        }
    }

    @Test func takesEveryChangedByteAway() throws {
        try withEntry { store, file in
            let whole = try readFile(file)
            for position in whole.indices {
                for change: UInt8 in variants([0x01, 0x20, 0x80, 0xff], at: position) {
                    var bytes = whole
                    bytes[position] ^= change
                    try writeFile(bytes, file)
                    let place: Comment = "byte \(position) ^ \(change)"
                    #expect(code { _ = try store.fetch(forKey: "key") } == .corrupted, place)
                    #expect(entries(in: store.path) == [], place)
                    #expect(try store.fetch(forKey: "key") == nil, place)

                    try writeFile(bytes, file)
                    #expect(code { _ = try store.information(forKey: "key") } == .corrupted, place)
                    #expect(entries(in: store.path) == [], place)
                }
            }
        }
    }

    @Test func takesEveryOtherLengthAway() throws {
        try withEntry { store, file in
            let whole = try readFile(file)
            for bytes in whole.indices.map({ Array(whole[..<$0]) }) + [
                whole + [0], [0] + whole, whole + whole,
            ] {
                try writeFile(bytes, file)
                #expect(code { _ = try store.fetch(forKey: "key") } == .corrupted, "\(bytes.count) bytes")
                #expect(entries(in: store.path) == [])
            }
        }
    }

    @Test func savesOverDamage() throws {
        try withEntry { store, file in
            let whole = try readFile(file)
            for position in whole.indices {
                var bytes = whole
                bytes[position] ^= 0xff
                try writeFile(bytes, file)
                try store.save([UInt8(position)], forKey: "key", storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: "key")?.archive == [UInt8(position)])
                #expect(entries(in: store.path) == [file])
            }
        }
    }

    @Test func sparesTheEntriesBesideADamagedOne() throws {
        for damaged in 0..<4 {
            try withEntry { store, _ in
                for index in 1..<4 {
                    try store.save([UInt8(index)], forKey: "key \(index)", storedAt: .now, expiresAt: nil)
                }
                let files = entries(in: store.path)
                #expect(files.count == 4)
                try writeFile(Array("no entry".utf8), files[damaged])
                let key = damaged == 0 ? "key" : "key \(damaged)"
                for index in 1..<4 where index != damaged {
                    #expect(try store.fetch(forKey: "key \(index)")?.archive == [UInt8(index)])
                }
                #expect(code { _ = try store.fetch(forKey: key) } == .corrupted)
                #expect(try store.fetch(forKey: key) == nil)
                for index in 1..<4 where index != damaged {
                    #expect(try store.fetch(forKey: "key \(index)")?.archive == [UInt8(index)])
                }
                #expect(entries(in: store.path) == Array(files[..<3]))
            }
        }
    }

    @Test func enumeratesAndRemovesDamage() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true)
            for index in 0..<20 {
                try store.save([1, 2, 3], forKey: "key \(index)", storedAt: .now, expiresAt: nil)
            }
            for file in entries(in: store.path).prefix(5) { try writeFile([1, 2, 3], file) }
            var codes: [StoreError.Code?] = []
            try store.forEachEntry { entry in
                codes.append(code { _ = try entry.get() })
                return true
            }
            #expect(codes.count == 20 && codes.filter { $0 == .corrupted }.count == 5)
            #expect(entries(in: store.path).count == 20)
            #expect(try store.removeDamagedEntries() == 5)
            #expect(entries(in: store.path).count == 15)
        }
    }

    @Test func removingADamagedEntryLeavesNothing() throws {
        try withEntry { store, file in
            try writeFile(Array("no entry".utf8), file)
            #expect(try store.remove(forKey: "key"))
            #expect(try store.fetch(forKey: "key") == nil)
        }
    }

    @Test func doesNotServeAnEntryUnderAnotherName() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true)
            try store.save([1], forKey: "one", storedAt: .now, expiresAt: nil)
            let file = try #require(entries(in: store.path).first)
            let bytes = try readFile(file)
            try store.save([2], forKey: "two", storedAt: .now, expiresAt: nil)
            let other = try #require(entries(in: store.path).first { $0 != file })
            try writeFile(bytes, other)
            #expect(code { _ = try store.fetch(forKey: "two") } == .corrupted)
            #expect(try store.fetch(forKey: "one")?.archive == [1])
            #expect(entries(in: store.path) == [file])
        }
    }

    @Test func leavesLaterVersionsAlone() throws {
        try withEntry { store, file in
            var bytes = try readFile(file)
            bytes[bytes.count - 9] = 4
            bytes = EntryFileTests.sealed(bytes)
            try writeFile(bytes, file)
            #expect(code { _ = try store.fetch(forKey: "key") } == .unsupportedVersion)
            #expect(
                code { try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil) }
                    == .unsupportedVersion
            )
            #expect(code { try store.remove(forKey: "key") } == .unsupportedVersion)
            #expect(try readFile(file) == bytes)
        }
    }

    /// An entry that a caller removes is reported. An entry of a later version cannot be removed, and stays.
    @Test(arguments: [true, false]) func trimLeavesLaterVersionsAlone(isLimited: Bool) throws {
        try withTemporaryDirectory { path in
            let settings = StoreSettings(countLimit: isLimited ? 100 : nil)
            let store = try FileStore(directory: path + "/cache", create: true, settings: settings)
            for number in 0..<20 { try store.save([1], forKey: "later \(number)") }
            let later = Set(entries(in: store.path))
            for file in later {
                var bytes = try readFile(file)
                bytes[bytes.count - 9] = 3
                try writeFile(EntryFileTests.sealed(bytes), file)
            }
            for number in 0..<20 { try store.save([1], forKey: "present \(number)") }
            var removed = 0
            try store.trim(toByteCount: 0) { _ in removed += 1 }
            #expect(removed == 20)
            #expect(Set(entries(in: store.path)) == later)
        }
    }

    @Test func takesAwayASealedStreamThatIsNone() throws {
        try withEntry { store, file in
            var bytes = try readFile(file)
            bytes[3] ^= 0x55
            try writeFile(EntryFileTests.sealed(bytes), file)
            #expect(try store.information(forKey: "key") != nil)
            #expect(code { _ = try store.fetch(forKey: "key") } == .corrupted)
            #expect(entries(in: store.path) == [])
        }
    }

    @Test func leavesDamageAloneThatIsLookedAtOnly() throws {
        try withEntry { store, file in
            let whole = try readFile(file)
            for position in whole.indices {
                var bytes = whole
                bytes[position] ^= 0x20
                for damaged in [bytes, EntryFileTests.sealed(bytes), Array(whole[..<position])] {
                    try writeFile(damaged, file)
                    // Sealed again, it may be an entry of another key, date or version.
                    let error = code { _ = try store.peek(forKey: "key") }
                    #expect(damaged == EntryFileTests.sealed(bytes) || error == .corrupted, "byte \(position)")
                    #expect(try readFile(file) == damaged, "byte \(position)")
                }
            }
            try writeFile(whole, file)
            #expect(try store.peek(forKey: "key")?.archive == Array("an archive".utf8))
        }
    }

    @Test func findsEntriesBehindADamagedOneByLookingOnly() throws {
        try withEntry { store, file in
            try store.save([7], forKey: "other", storedAt: .now, expiresAt: nil)
            try writeFile([1, 2, 3], file)
            let former = entries(in: store.path)
            #expect(try store.peek(forKey: "other")?.archive == [7])
            #expect(code { _ = try store.peek(forKey: "key") } == .corrupted)
            #expect(entries(in: store.path) == former)
        }
    }

    @Test func refusesLargeFilesBeforeReadingThem() throws {
        try withTemporaryDirectory { path in
            let large = try FileStore(directory: path, create: true)
            var random = SeededGenerator(seed: 1)
            let archive = random.bytes(100_000)
            try large.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try large.information(forKey: "key")?.archiveByteCount == 100_000)

            var settings = StoreSettings()
            settings.maximumArchiveByteCount = 1000
            let small = try FileStore(directory: path, create: false, settings: settings)
            #expect(code { _ = try small.fetch(forKey: "key") } == .tooLarge)
            #expect(
                code { try small.save(archive, forKey: "a", storedAt: .now, expiresAt: nil) } == .tooLarge
            )
            #expect(try large.fetch(forKey: "key")?.archive == archive)

            // A terabyte of nothing, which takes no room.
            let file = try #require(entries(in: path).first)
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.truncate(atOffset: 1 << 40)
            try handle.close()
            #expect(code { _ = try large.fetch(forKey: "key") } == .corrupted)
            #expect(entries(in: path) == [])
        }
    }

    @Test func checksLargeEntriesPieceByPiece() throws {
        try withEntry { store, file in
            var random = SeededGenerator(seed: 2)
            let archive = random.bytes(300_000)
            try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try store.information(forKey: "key")?.archiveByteCount == archive.count)
            var bytes = try readFile(file)
            bytes[150_000] ^= 1
            try writeFile(bytes, file)
            #expect(code { _ = try store.information(forKey: "key") } == .corrupted)
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// How damaged files are kept aside.
@Suite struct QuarantineTests {
    private let files = FileManager.default

    private func kept(_ store: FileStore) throws -> [String] {
        guard files.fileExists(atPath: store.path + "/.quarantine") else { return [] }
        return try files.contentsOfDirectory(atPath: store.path + "/.quarantine").sorted()
    }

    private func withStore(_ body: (FileStore) throws -> Void) throws {
        try withTemporaryDirectory { path in try body(FileStore(directory: path + "/cache", create: true)) }
    }

    /// Saves an entry and puts other bytes in its place.
    @discardableResult
    private func damage(_ store: FileStore, _ bytes: [UInt8], key: String = "key") throws -> String {
        let before = Set(entries(in: store.path))
        try store.save([1], forKey: key, storedAt: .now, expiresAt: nil)
        let file = try #require(entries(in: store.path).first { !before.contains($0) })
        try writeFile(bytes, file)
        return file
    }

    private func expectDamage(_ store: FileStore, key: String = "key") throws {
        let error = #expect(throws: StoreError.self) { try store.fetch(forKey: key) }
        #expect(error?.code == .corrupted)
        #expect(try store.fetch(forKey: key) == nil)
    }

    @Test func keepsWhatAFetchFound() throws {
        try withStore { store in
            let file = try damage(store, [1, 2, 3])
            try expectDamage(store)
            let name = String(file.dropFirst(store.path.count + 1)).replacing("/", with: "")
            #expect(try kept(store) == ["0000000000000000.\(name)"])
            let path = store.path + "/.quarantine"
            #expect(try readFile(path + "/0000000000000000.\(name)") == [1, 2, 3])
            #expect(try permissions(path) == 0o700)
        }
    }

    @Test func keepsWhatRemovingDamagedEntriesFound() throws {
        try withStore { store in
            for index in 0..<5 { try damage(store, [UInt8(index)], key: "key \(index)") }
            #expect(try store.removeDamagedEntries() == 5)
            #expect(try kept(store).count == 5)
            #expect(entries(in: store.path) == [])
        }
    }

    /// Its checksum is right, but the archive in it is not.
    @Test func keepsASealedStreamThatIsNone() throws {
        try withStore { store in
            let file = try damage(store, [])
            try store.save(Array("an archive".utf8), forKey: "key", storedAt: .now, expiresAt: nil)
            var bytes = try readFile(file)
            bytes[3] ^= 0x55
            try writeFile(EntryFileTests.sealed(bytes), file)
            try expectDamage(store)
            #expect(try kept(store).count == 1)
        }
    }

    @Test func keepsTheLatestSixteen() throws {
        try withStore { store in
            for index in 0..<40 {
                try damage(store, [UInt8(index)])
                try expectDamage(store)
                #expect(try kept(store).count == min(index + 1, 16))
            }
            let bytes = try kept(store).map { try readFile(store.path + "/.quarantine/" + $0) }
            #expect(bytes == (24..<40).map { [UInt8($0)] })
        }
    }

    @Test func manyAtOnceKeepNoMore() throws {
        try withStore { store in
            for index in 0..<60 { try damage(store, [UInt8(index)], key: "key \(index)") }
            let other = try FileStore(directory: store.path, create: false)
            let faults = Faults()
            DispatchQueue.concurrentPerform(iterations: 60) { index in
                do {
                    _ = try (index % 2 == 0 ? store : other).fetch(forKey: "key \(index)")
                    faults.add("\(index) was not noticed")
                } catch {
                    if (error as? StoreError)?.code != .corrupted { faults.add("\(error)") }
                }
            }
            #expect(faults.all == [])
            #expect(try kept(store).count == 16 && entries(in: store.path) == [])
        }
    }

    @Test func keepsNothingLarge() throws {
        try withStore { store in
            for (extra, count) in [(1, 0), (0, 1)] {
                let file = try damage(store, [1])
                let handle = try #require(FileHandle(forWritingAtPath: file))
                try handle.truncate(atOffset: UInt64(Quarantine.largestByteCount + extra))
                try handle.close()
                try expectDamage(store)
                #expect(try kept(store).count == count)
            }
        }
    }

    @Test func keepsRegularFilesOnly() throws {
        try withStore { store in
            let file = try damage(store, [1])
            for make in [
                { mkfifo(file, 0o600) }, { mkdir(file, 0o700) }, { symlink("/etc/passwd", file) },
            ] {
                if files.fileExists(atPath: file) { try files.removeItem(atPath: file) }
                #expect(make() == 0)
                try expectDamage(store)
                #expect(entries(in: store.path) == [])
            }
            #expect(try kept(store) == [])
        }
    }

    @Test func leavesAloneWhatItDidNotName() throws {
        try withStore { store in
            let path = store.path + "/.quarantine"
            let rest = String(repeating: "a", count: 32) + ".0"
            try files.createDirectory(atPath: path, withIntermediateDirectories: true)
            let foreign = [
                "notes.txt", "0000000000000001", "0000000000000001.\(rest)0x", "000000000000000G.\(rest)",
                "+000000000000001.\(rest)", "00000000000000001.\(rest)", "0000000000000001.+a\(rest.dropFirst(2))",
                "é", "0000000000000001.\(rest)/",
            ]
            for name in foreign where name.hasSuffix("/") {
                try files.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: false)
            }
            for name in foreign where !name.hasSuffix("/") { try writeFile([1], path + "/" + name) }
            for index in 0..<20 {
                try damage(store, [UInt8(index)])
                try expectDamage(store)
            }
            #expect(try kept(store).count == foreign.count + 16)
            try store.removeAll()
            let names = foreign.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            #expect(try Set(kept(store)) == Set(names))
        }
    }

    /// A file in the directory has the highest number.
    @Test func countsOnAfterTheLastNumber() throws {
        try withStore { store in
            let path = store.path + "/.quarantine"
            try files.createDirectory(atPath: path, withIntermediateDirectories: true)
            let last = "ffffffffffffffff." + String(repeating: "a", count: 32) + ".0"
            try writeFile([9], path + "/" + last)
            for _ in 0..<3 {
                try damage(store, [1])
                try expectDamage(store)
            }
            #expect(try kept(store).map { String($0.prefix(16)) } == (0..<3).map { "000000000000000\($0)" })
        }
    }

    @Test func deletesWhereItCannotKeep() throws {
        try withStore { store in
            try writeFile([1], store.path + "/.quarantine")
            try damage(store, [1])
            try expectDamage(store)
            #expect(entries(in: store.path) == [])
            try files.removeItem(atPath: store.path + "/.quarantine")

            try files.createDirectory(atPath: store.path + "/elsewhere", withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: store.path + "/.quarantine",
                withDestinationPath: store.path + "/elsewhere"
            )
            try damage(store, [1])
            try expectDamage(store)
            #expect(entries(in: store.path) == [])
            #expect(try files.contentsOfDirectory(atPath: store.path + "/elsewhere") == [])
        }
    }

    /// A damaged file that could not be removed is found again, and must not push out the others.
    @Test func keepsAFileOnce() throws {
        try withTemporaryDirectory { path in
            let faulty = FaultyLayer(failing: [.remove])
            let store = try FileStore(directory: path, create: true, layer: faulty.layer) { EntryName($0) }
            try damage(store, [1])
            _ = try faulty.planning(.from(0, .fail(EACCES))) {
                for _ in 0..<3 { #expect(throws: StoreError.self) { try store.fetch(forKey: "key") } }
            }
            #expect(try kept(store).count == 1)
            try expectDamage(store)
            #expect(try kept(store).count == 1)
        }
    }

    @Test func whoeverRemovesWantsNothingKept() throws {
        try withStore { store in
            try damage(store, [1])
            #expect(try store.remove(forKey: "key"))
            #expect(try kept(store) == [])
            try damage(store, [1])
            try expectDamage(store)
            try store.removeAll()
            #expect(try kept(store) == [])
        }
    }

    @Test func isNoEntryAndNoReasonToRefuseADirectory() throws {
        try withTemporaryDirectory { path in
            try files.createDirectory(atPath: path + "/.quarantine", withIntermediateDirectories: true)
            let store = try FileStore(directory: path, create: true)
            try damage(store, [1])
            try expectDamage(store)
            let reopened = try FileStore(directory: path, create: false)
            try reopened.forEachEntry { _ in
                Issue.record("there is an entry")
                return true
            }
            #expect(try reopened.removeDamagedEntries() == 0)
            #expect(try kept(store).count == 1)
        }
    }
}

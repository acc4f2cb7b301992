import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

import struct TypedCache.CacheError
import struct TypedCache.DiskSettings
import struct TypedCache.UseProfile

@testable import CacheCommand

/// How much of a cache `list` looks at before it prints, by the number of entries that it was given.
struct StreamedListTests {
    private static let entriesInPart = 40

    /// A cache of many parts that counts those that were looked at.
    ///
    /// `@unchecked Sendable`: `list` looks at one part after another.
    private final class Parts: CacheAccess, @unchecked Sendable {
        let partCount = 256
        private(set) var looks = 0
        private let didLook: (Int) throws -> Void

        init(didLook: @escaping (_ looks: Int) throws -> Void = { _ in }) { self.didLook = didLook }

        func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
            looks += 1
            try didLook(looks)
            return (0..<entriesInPart).map { number in
                .success(
                    EntryInformation(
                        key: "key \(part)/\(number)",
                        attributes: EntryAttributes(storedAt: Date(timeIntervalSince1970: 0)),
                        archiveByteCount: 10,
                        storedByteCount: 10,
                        identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
                    )
                )
            }
        }

        func peek(_ key: String, pieces body: ([UInt8]) -> Bool) -> EntryInformation? { nil }
        func useProfile() -> UseProfile? { nil }
        func statistics() -> StatisticsReport { StatisticsReport() }
        func overview() -> CacheOverview {
            CacheOverview(layout: .packed, entryCount: 0, byteCount: 0, lastChange: nil)
        }
        func remove(_ key: String) -> Bool { false }
        func remove(_ entry: EntryInformation) -> Bool { false }
        func removeDamaged() -> Int { 0 }
        func removeAll(mustCount: Bool) -> ClearSummary? { nil }
        func trim(to size: SizeLimit, counting summary: inout TrimSummary) {}
        func save(_ archive: [UInt8], forKey key: String, attributes: EntryAttributes, replaces: Bool) -> Bool {
            false
        }
        func compact(counting summary: inout CompactSummary?) {}
    }

    private func list(_ words: String..., output: MemoryOutput = MemoryOutput()) -> (looks: Int, run: ToolRun) {
        let parts = Parts()
        let run = ToolRun(["list", "--cache", "c"] + words, on: StoppingBackend(access: parts), output: output)
        return (parts.looks, run)
    }

    @Test("A reader that ends early ends the reading: no part is looked at before its entries are wanted")
    func earlyEnd() {
        // Room for the first part, and some of the second: the next line finds the output closed, as after head.
        let output = MemoryOutput(room: 13 * (Self.entriesInPart + 5))
        let (looks, run) = list(output: output)
        #expect(run.status == .success && run.errors.text.isEmpty)
        #expect(looks == 2 && run.output.lines.count > Self.entriesInPart)
        #expect(list("--limit", "10").looks == 1)
        #expect(list("--limit", "10", "--null").looks == 1)
        #expect(list("--limit", "10", "--prefix", "key 2/").looks == 3)
        // All of them, where all are asked for.
        let all = list()
        #expect(all.looks == 256 && all.run.output.lines.count == 256 * Self.entriesInPart)
        #expect(list("--sort", "key", "--limit", "1").looks == 256)
    }

    @Test("What was found before a failure is printed")
    func failure() {
        let parts = Parts { looks in if looks == 3 { throw CommandFailure.unreadable(path: "/c", errno: EIO) } }
        let run = ToolRun(["list", "--cache", "c"], on: StoppingBackend(access: parts))
        #expect(run.status == .failure && run.errors.text.contains("/c"))
        #expect(run.output.lines.count == 2 * Self.entriesInPart && run.output.flushCount == 1)
    }

    @Test("An array of JSON comes as the entries are found, and stays open after a failure")
    func streamedJSON() throws {
        let (looks, whole) = list("--json")
        let data = Data(whole.output.text.utf8)
        let array = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(looks == 256 && array.count == 256 * Self.entriesInPart)
        #expect(array[41]["key"] as? String == "key 1/1")
        #expect(list("--json", "--limit", "3").looks == 1)
        #expect(list("--json", "--prefix", "none").run.output.text == "[]\n")
        // After head.
        #expect(list("--json", output: MemoryOutput(room: 2_000)).looks == 1)
        for words in [["--json"], ["--long"]] {
            let parts = Parts { looks in
                if looks == 3 { throw CommandFailure.unreadable(path: "/c", errno: EIO) }
            }
            let run = ToolRun(["list", "--cache", "c"] + words, on: StoppingBackend(access: parts))
            #expect(run.status == .failure && run.errors.text.contains("/c"))
            #expect(run.output.text.contains("key 1/39") && !run.output.text.hasSuffix("]\n"))
        }
    }

    @Test("A long list prints its heading once, and its first rows make the widths")
    func streamedTable() {
        let run = list("--long").run
        #expect(run.output.lines.count == 256 * Self.entriesInPart + 1)
        #expect(run.output.lines[0] == "STORED                EXPIRES  SIZE  KEY")
        #expect(run.output.lines.last == "1970-01-01T00:00:00Z  never    10 B  key 255/39")
        // The end of the output ends the reading, where the first rows are full.
        #expect(list("--long", output: MemoryOutput(room: 100)).looks < 110)
    }

    @Test("Rows of a limited list are those of the whole one, sorted", arguments: [0, 1, 7, 100, 1_000])
    func limitedRows(limit: Int) {
        var random = SeededGenerator(seed: limit)
        for order in [EntryOrder.key, .stored, .expires, .size] {
            let rows = (0..<400).map { number in
                var attributes = EntryAttributes(
                    storedAt: Date(timeIntervalSince1970: Double(Int.random(in: 0..<20, using: &random)))
                )
                if Bool.random(using: &random) { attributes.expiresAt = attributes.storedAt + 9 }
                return EntryRow(
                    EntryInformation(
                        key: "\(number * 7_919 % 400)",
                        attributes: attributes,
                        archiveByteCount: 10,
                        storedByteCount: Int.random(in: 0..<9, using: &random),
                        identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
                    )
                )
            }
            var sorted = SortedRows(order, limit: limit)
            for row in rows { sorted.append(row) }
            #expect(sorted.sorted() == Array(rows.sorted(by: order.isBefore).prefix(limit)))
        }
    }

    @Test("A signal ends a list after a whole line")
    func interrupted() {
        let interruption = TestInterruption()
        interruption.arrive(SIGINT)
        for words in [[], ["--long"], ["--json"], ["--sort", "key"]] {
            let parts = Parts()
            let run = ToolRun(
                ["list", "--cache", "c"] + words,
                on: StoppingBackend(access: parts),
                interruption: interruption
            )
            #expect(run.status == .signal(SIGINT) && run.output.text.isEmpty)
            #expect(parts.looks <= 1)
        }
    }

    @Test("A signal ends a reading that prints nothing, too")
    func interruptedInSilence() throws {
        for words in [["list"], ["cat"], ["remove", "--dry-run"]] {
            let interruption = TestInterruption()
            let parts = Parts { looks in if looks == 3 { interruption.arrive(SIGINT) } }
            let run = ToolRun(
                words + ["--cache", "c", "--prefix", "none"],
                on: StoppingBackend(access: parts),
                interruption: interruption
            )
            #expect(run.status == .signal(SIGINT) && parts.looks == 3, "\(words)")
        }
        // Of equal caches.
        let workspace = try Workspace()
        let cache = DiskCache(workspace)
        for number in 0..<20 { try cache.save(DiskCache.archive("x"), "k\(number)") }
        let interruption = TestInterruption()
        var peeks = 0
        let access = StoppingAccess(try DiskCache.backend.open(cache.selection)) { count in
            peeks = count
            if count == 4 { interruption.arrive(SIGINT) }
        }
        let run = ToolRun(["diff", "c", "c"], on: StoppingBackend(access: access), interruption: interruption)
        #expect(run.status == .signal(SIGINT) && (4...6).contains(peeks), "\(peeks)")
    }
}

import ArchiveStore
import Foundation
import TestSupport
import Testing
import TypedCache

@testable import CacheWorker

/// Caches that several processes use, living, dead and killed.
@Suite(.serialized) struct ProcessTests {
    private let directory = TestDirectory()

    init() throws { try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true) }

    /// Beside the bundle that holds these tests.
    static var executable: URL {
        get throws {
            let tool = ReadmeTests.products.appending(path: "CacheWorker")
            try #require(FileManager.default.isExecutableFile(atPath: tool.path), "no worker at \(tool.path)")
            return tool
        }
    }

    /// A process that has opened the cache `shared`.
    private func child(
        _ writer: Int,
        keys: [String] = [],
        configure: (inout WorkerSettings) -> Void = { _ in }
    ) throws -> ChildWorker {
        var settings = WorkerSettings(
            directory: directory.url.path,
            name: "shared",
            log: directory.url.appending(path: "\(writer).log").path,
            writer: writer,
            seed: UInt64(writer),
            keys: keys
        )
        configure(&settings)
        let child = try ChildWorker(executable: Self.executable, settings)
        try child.waitUntilOpened()
        return child
    }

    private func cache() throws -> Cache<ProvenValue> {
        try Cache(name: "shared", directory: directory.url, settings: CacheSettings(memory: .none))
    }

    private var drafts: DraftListing {
        get throws { try DraftListing(cache: directory.url.appending(path: "shared")) }
    }

    private func value(_ writer: Int, _ number: Int) -> Answer {
        .value(ValueIdentity(writer: writer, number: number))
    }

    @Test("A value saved under a name is fetched equal by a new process")
    func fetchedByANewProcess() throws {
        let keys = (0..<40).map { "key \($0)".replacing(" ", with: $0 % 2 == 0 ? "-" : "/") }
        let first = try child(1)
        for key in keys { #expect(try first.perform(.save(key)) == .done) }
        try first.end()
        // The worker compares the whole value with the value that its writer made.
        let second = try child(2)
        for (index, key) in keys.enumerated() { #expect(try second.perform(.fetch(key)) == value(1, index + 1)) }
        #expect(try second.perform(.fetch("none")) == .absent)
        #expect(try second.perform(.keys) == .keys(keys.sorted()))
        try second.end()

        let cache = try cache()
        for (index, key) in keys.enumerated() {
            let expected = ProvenValue(key: key, identity: ValueIdentity(writer: 1, number: index + 1))
            let found = try #require(try cache.fetch(forKey: key))
            #expect(found.payload == expected.payload && found.key == key && found.identity == expected.identity)
        }
    }

    @Test("Four processes that load the same keys have one producer for each")
    func loads() throws {
        let count = isLongRun ? 200 : 50
        let children = try (1...4).map { try child($0) }
        var producers: Set<Answer> = []
        for key in (0..<count).map({ "key\($0)" }) {
            // All at once, and each answers with the value that it got.
            for child in children { try child.begin(.load(key)) }
            let answers = Set(try children.map { try $0.answer() })
            #expect(answers.count == 1, "\(key): \(answers)")
            producers.formUnion(answers)
        }
        #expect(producers.count == count)
        #expect(producers.allSatisfy { if case .value = $0 { true } else { false } }, "\(producers)")
        for child in children { #expect(try child.perform(.count) == .count(count)) }
        for child in children { try child.end() }
    }

    @Test("A process that is killed while it loads holds nothing up")
    func killedWhileLoading() async throws {
        let victim = try child(1)
        try victim.begin(.load("endless"))
        let path = directory.url.appending(path: "shared").path
        func isLocked() throws -> Bool { try !KeyLocks(directory: path).tryLock(KeyLocks.Offset(key: "endless")) }
        try await wait(until: !victim.isRunning || isLocked())
        try #require(victim.isRunning, "the process ended before it had the lock")
        let cache = try cache()
        let value = ProvenValue(key: "endless", identity: ValueIdentity(writer: 0, number: 7))
        let load = Task {
            try await cache.fetch(forKey: "endless", options: LoadOptions(joins: .processes)) { value }
        }
        victim.killed()
        #expect(try await load.value.identity == value.identity)
    }

    @Test("SIGKILL mid-write: whole old or whole new value", arguments: seeds(1..<3))
    func killed(seed: Int) throws {
        let kills = isLongRun ? 30 : 12
        let settings = TortureSettings(
            executable: try Self.executable,
            scratch: directory.url,
            seed: UInt64(seed),
            duration: .seconds(600),
            kills: kills
        )
        let report = try KillTorture(settings).run()
        #expect(report.violations == [])
        #expect(report.figures["kills"] == kills)
        // At least one kill hit a save.
        #expect(report.figures[KillTorture.cutSaves] ?? 0 > 0)
        #expect(report.figures["reads judged"] ?? 0 > 30 * 20)
    }

    @Test("Orphaned drafts are counted and cleaned")
    func orphanedDrafts() throws {
        // A packed store makes a draft only for a segment; the run of kills checks those drafts.
        let living = try child(1) { $0.layout = .files }
        #expect(try living.perform(.save("a")) == .done)
        #expect(try drafts.drafts.isEmpty)
        #expect(try drafts.locks.count == 1)

        // Killed again and again while it saves, a process leaves a draft before long.
        var writer = 1
        var orphans: [String] = []
        while orphans.isEmpty, writer < 1_000 {
            writer += 1
            let victim = try child(writer, keys: ["a", "b", "c"]) { $0.layout = .files }
            try victim.run(until: MonotonicTime(nanoseconds: .max))
            MonotonicTime.now.advanced(by: .microseconds(writer * 37 % 5_000)).wait()
            victim.killed()
            orphans = try drafts.drafts
        }
        #expect(orphans.count == 1, "a dead process leaves the draft it was at, and those before it were cleaned")
        #expect(try drafts.locks.count == 2)

        // A process that only reads leaves the orphans; a process that writes removes them, and no other drafts.
        let cache = try cache()
        _ = try cache.fetch(forKey: "a")
        #expect(try drafts.drafts == orphans)
        try cache.save(ProvenValue(key: "d", identity: ValueIdentity(writer: 0, number: 1)), forKey: "d")
        #expect(try drafts.drafts.isEmpty)
        #expect(try drafts.locks.count == 2)
        #expect(try living.perform(.save("e")) == .done)
        #expect(try living.perform(.fetch("d")) == value(0, 1))
        try living.end()
        withExtendedLifetime(cache) {}
    }

    @Test("Two processes: one's writes and trims are seen by the other, totals right")
    func twoProcesses() throws {
        try writesAreSeen()
        try FileManager.default.removeItem(at: directory.url.appending(path: "shared"))
        try trimsAreSeen()
    }

    private func writesAreSeen() throws {
        let (one, other) = (try child(1), try child(2))
        #expect(try one.perform(.save("a")) == .done)
        #expect(try other.perform(.fetch("a")) == value(1, 1))
        #expect(try other.perform(.save("a")) == .done)
        #expect(try one.perform(.fetch("a")) == value(2, 2))
        #expect(try other.perform(.save("b")) == .done)
        #expect(try one.perform(.contains("b")) == .present)
        for process in [one, other] {
            #expect(try process.perform(.count) == .count(2))
            #expect(try process.perform(.keys) == .keys(["a", "b"]))
        }
        #expect(try one.perform(.remove("a")) == .present)
        #expect(try other.perform(.fetch("a")) == .absent)
        #expect(try other.perform(.contains("a")) == .absent)
        #expect(try other.perform(.remove("a")) == .absent)
        for process in [one, other] { #expect(try process.perform(.keys) == .keys(["b"])) }
        #expect(try other.perform(.removeAll) == .done)
        for process in [one, other] {
            #expect(try process.perform(.fetch("b")) == .absent)
            #expect(try process.perform(.count) == .count(0))
        }
        // And after its directory was emptied, either goes on.
        #expect(try one.perform(.save("c")) == .done)
        #expect(try other.perform(.keys) == .keys(["c"]))
        for process in [one, other] { try process.end() }
    }

    private func trimsAreSeen() throws {
        let limit = 40
        let keys = (0..<200).map { "key\($0)" }
        func limited(_ writer: Int) throws -> ChildWorker {
            try child(writer) { settings in
                settings.countLimit = limit
                // An entry that the other process evicts must not stay in memory.
                settings.usesMemory = true
                settings.followsOthers = true
            }
        }
        let (one, other) = (try limited(1), try limited(2))
        func listing() throws -> EntryListing {
            try EntryListing(cache: directory.url.appending(path: "shared", directoryHint: .isDirectory))
        }
        // Each of them saves and fetches every key, in turns, so both count alike.
        for (index, key) in keys.enumerated() {
            let (saver, reader) = index % 2 == 0 ? (one, other) : (other, one)
            #expect(try saver.perform(.save(key)) == .done)
            #expect(try listing().count <= limit)
            guard case .value(let identity) = try reader.perform(.fetch(key)) else {
                Issue.record("\(key) was not found by the process that did not save it")
                continue
            }
            #expect(identity.writer == saver.settings.writer)
        }
        /// The entries of both processes, which must be the same once evictions in the background have ended.
        func agreed() throws -> [Answer] {
            var answers: [[Answer]] = []
            func agree() throws -> Bool {
                answers = try [one, other].map { process in try keys.map { try process.perform(.fetch($0)) } }
                return answers[0] == answers[1]
            }
            try wait(until: agree())
            return answers[0]
        }
        let left = try agreed().count { $0 != .absent }
        #expect(left > limit / 2 && left <= limit)
        #expect(try left == listing().count)

        // Both know the total to the byte: a trim to the total removes nothing, and a trim to one byte less removes
        // something.
        for process in [one, other] {
            let there = try listing().byteCount
            #expect(try process.perform(.trim(there)) == .count(0))
            // Records of overwritten entries may take some room.
            guard case .count = try process.perform(.trim(there - 1)) else { throw TortureError("no number") }
            #expect(try listing().byteCount < there)
        }
        let rest = try agreed().count { $0 != .absent }
        #expect(rest <= left && rest >= left / 2)
        #expect(try rest == listing().count)

        // Entries that one process trims are gone for the other, and there is room again.
        let half = try listing().byteCount / 2
        #expect(try one.perform(.trim(half)) != .count(0))
        #expect(try listing().byteCount <= half)
        #expect(try other.perform(.count) == .count(listing().count))
        #expect(try other.perform(.trim(0)) != .count(0))
        #expect(try agreed().allSatisfy { $0 == .absent })
        for process in [one, other] { #expect(try process.perform(.save("last")) == .done) }
        #expect(try one.perform(.trim(listing().byteCount)) == .count(0))
        for process in [one, other] { try process.end() }
    }

    @Test(
        "Eight processes at once, one killed now and then, see only what may be, and agree in the end",
        arguments: seeds(1..<3)
    )
    func eightProcesses(seed: Int) throws {
        let settings = TortureSettings(
            executable: try Self.executable,
            scratch: directory.url,
            seed: UInt64(seed),
            duration: .seconds(1)
        )
        let report = try ProcessTorture(settings).run()
        #expect(report.violations == [])
        #expect(report.figures["processes at once"] == 8)
        #expect(report.figures["kills"] ?? 0 > 0 && report.figures["agreements of all"] ?? 0 > 0)
        #expect(report.figures["reads judged"] ?? 0 > 8 * 16)
    }

    @Test(
        "Processes that keep values in memory and follow others are judged as those without",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func following() throws {
        let report = try ProcessTorture(brief(1), .following).run()
        #expect(report.violations == [])
        #expect(report.figures["kills"] ?? 0 > 0 && report.figures["agreements of all"] ?? 0 > 0)
        #expect(report.figures["reads judged"] ?? 0 > 8 * 16)
    }

    @Test(
        "What was flushed survives a kill, and nothing older comes back",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func writingBehind() throws {
        let report = try ProcessTorture(brief(1), .behind).run()
        #expect(report.violations == [])
        #expect(report.figures["kills"] ?? 0 > 0 && report.figures["deferred saves"] ?? 0 > 100)
    }

    @Test(
        "Limits hold at every instant among processes that are killed, and all know the totals",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func limits() throws {
        let report = try LimitTorture(brief(2)).run()
        #expect(report.violations == [])
        #expect(report.figures["kills"] ?? 0 > 0 && report.figures["looks at all files"] ?? 0 > 10)
        #expect(report.figures["totals asked for"] ?? 0 > 0)
        // The cache came close enough to a limit.
        #expect(report.figures["percent of a limit at most"] ?? 0 > 25)
    }

    @Test(
        "Every increment of eight processes counts once",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func counters() throws {
        let report = try CounterTorture(brief(1)).run()
        #expect(report.violations == [])
        #expect(report.figures["kills"] ?? 0 > 0 && report.figures["increments"] ?? 0 > 100)
    }

    private func brief(_ seconds: Int) throws -> TortureSettings {
        TortureSettings(
            executable: try Self.executable,
            scratch: directory.url,
            seed: 1,
            duration: .seconds(seconds)
        )
    }

    @Test(
        "A full disk: each failure is thrown, no other entry suffers, and room that is made is used",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func fullDisk() throws {
        let settings = TortureSettings(
            executable: try Self.executable,
            scratch: directory.url,
            seed: 1,
            duration: .zero
        )
        let report = try DiskTorture(settings).run()
        if let reason = report.skipped {
            print("skipped: \(reason)")
            return
        }
        #expect(report.violations == [])
        #expect(report.figures["saves that failed"] ?? 0 > 0)
        #expect(report.figures["saves after room was made"] ?? 0 > 0)
    }
}

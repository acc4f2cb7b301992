import Foundation
import TestSupport

/// Several processes at once on one cache, one of which is killed now and then.
final class Crowd {
    private let settings: TortureSettings
    let folder: URL
    private let configure: (inout WorkerSettings, _ place: Int) -> Void
    private(set) var children: [ChildWorker] = []
    private(set) var writerCount = 0
    private var random: SeededGenerator
    private var begun: [ValueIdentity: String] = [:]

    static let cacheName = "torture"

    /// - Parameters:
    ///   - folder: the folder of the cache and the logs.
    ///   - configure: sets the work of the process at a place; after a kill, another process takes the place.
    init(
        _ settings: TortureSettings,
        folder: URL,
        seed: UInt64,
        configure: @escaping (inout WorkerSettings, _ place: Int) -> Void
    ) {
        self.settings = settings
        self.folder = folder
        self.configure = configure
        random = SeededGenerator(seed: seed)
    }

    /// The directory of the cache.
    var cache: URL { folder.appending(path: Self.cacheName, directoryHint: .isDirectory) }

    /// Starts all of them at once: one makes the cache, and the others must not be in its way.
    func start() throws {
        for place in 0..<settings.processCount { children.append(try child(place)) }
        for child in children { try child.waitUntilOpened() }
    }

    private func child(_ place: Int) throws -> ChildWorker {
        try ChildWorker(executable: settings.executable, nextSettings(place))
    }

    /// The settings of the next worker, with a number of its own.
    func nextSettings(_ place: Int) -> WorkerSettings {
        writerCount += 1
        var own = WorkerSettings(
            directory: folder.path,
            name: Self.cacheName,
            layout: settings.layout,
            log: folder.appending(path: "worker-\(writerCount).log").path,
            writer: writerCount,
            seed: random.next()
        )
        configure(&own, place)
        return own
    }

    /// Works in rounds until time is up or a violation was found, and ends all processes.
    ///
    /// - Parameters:
    ///   - part: the name of the part.
    ///   - longest: how long a round may take.
    ///   - round: runs one round for a duration, and returns its violations.
    func run(
        _ part: String,
        inRoundsOf longest: Duration,
        _ round: (_ number: Int, _ duration: Duration, _ report: inout PartReport) throws -> [Violation]
    ) throws -> PartReport {
        var report = PartReport(part: part)
        report.add(settings.processCount, "processes at once")
        let begin = MonotonicTime.now
        let deadline = begin.advanced(by: settings.duration)
        var number = 0
        while MonotonicTime.now < deadline, report.violations.isEmpty, !settings.isInterrupted() {
            number += 1
            let left = MonotonicTime.now.duration(to: deadline)
            var found: [Violation]
            do {
                if children.isEmpty { try start() }
                found = try round(number, min(longest, max(left, .milliseconds(200))), &report)
            } catch let error as TortureError {
                found = [Violation(law: .failed, evidence: error.description)]
            }
            report.add(found, "round \(number), seed \(settings.seed)")
            settings.progress(report.prose(since: begin))
        }
        try end()
        report.seconds = report.duration(since: begin)
        return report
    }

    /// Has all of them work for a while, one killed at some moment, and another take its place.
    ///
    /// - Parameters:
    ///   - in the meantime: called again and again while they work; takes a while each time.
    ///   - heard: called with the log of the killed process.
    func run(
        for duration: Duration,
        meanwhile: () throws -> Void = { usleep(1_000) },
        heard: (ChildWorker, [LogRecord], _ death: MonotonicTime) -> Void
    ) throws {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: duration)
        for child in children { try child.run(until: end) }
        let moment = begin.advanced(by: duration * Double.random(in: 0.2..<0.8, using: &random))
        while MonotonicTime.now < moment { try meanwhile() }
        let victim = Int.random(in: 0..<children.count, using: &random)
        let death = children[victim].killed()
        let records = try children[victim].newRecords()
        note(records, writer: children[victim].settings.writer)
        heard(children[victim], records, death)
        children[victim] = try child(victim)
        try children[victim].waitUntilOpened()
        try children[victim].run(until: end)
        while MonotonicTime.now < end { try meanwhile() }
        for child in children { try child.waitUntilFinished() }
    }

    /// The records that the living processes have logged since the last call.
    func newRecords() throws -> [(ChildWorker, [LogRecord])] {
        try children.map { child in
            let records = try child.newRecords()
            note(records, writer: child.settings.writer)
            return (child, records)
        }
    }

    func note(_ records: [LogRecord], writer: Int) {
        for case .begin(let number, .save(let key, _)) in records.map(\.event) {
            begun[ValueIdentity(writer: writer, number: number)] = key
        }
    }

    /// Whether a value was ever saved for a key.
    func wasBegun(_ value: ValueIdentity, _ key: String) -> Bool { begun[value] == key }

    func end() throws {
        for child in children { try child.end() }
    }

    /// Has all of them stand still while `body` runs.
    func standingStill(_ body: () throws -> Void) throws {
        defer { for child in children { child.goOn() } }
        for child in children where try !child.stop() {
            throw TortureError("process \(child.settings.writer) ended by itself: see \(child.settings.log)")
        }
        try body()
    }

    /// Reads every key in every process while none writes.
    ///
    /// - Returns: the values that each one found.
    func told(_ keys: [String]) throws -> (values: [[String: ValueIdentity]], violations: [Violation]) {
        var told: [[String: ValueIdentity]] = []
        var violations: [Violation] = []
        for child in children {
            var values: [String: ValueIdentity] = [:]
            for key in keys {
                if case .value(let value) = try child.perform(.fetch(key)) { values[key] = value }
            }
            let listing = (try child.perform(.keys), try child.perform(.count))
            if listing != (.keys(values.keys.sorted()), .count(values.count)) {
                let evidence =
                    "process \(child.settings.writer) fetches \(values.keys.sorted()) and tells \(listing)"
                violations.append(Violation(law: .disagreement, evidence: evidence))
            }
            told.append(values)
        }
        if let first = told.first, told.contains(where: { $0 != first }) {
            violations.append(Violation(law: .disagreement, evidence: "the processes fetch \(told)"))
        }
        return (told, violations)
    }
}

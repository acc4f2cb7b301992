import Foundation
import TestSupport
import TypedCache

/// Lets several processes work on one cache at once, kills one now and then, and judges every read.
///
/// It works in rounds. At the end of each, all processes stand still, and must agree on every key and its value. The
/// next round begins with that state.
final class ProcessTorture {
    enum Kind: String {
        /// All processes change all keys, and keep nothing in memory.
        case processes
        /// The same, but they keep values in memory and follow the others' changes.
        case following
        /// Saves return before they are written. Each process changes keys of its own, and reads all.
        case behind
    }

    private let kind: Kind
    private let keys: [String]
    private let crowd: Crowd
    private var known: [String: ValueIdentity] = [:]

    init(_ settings: TortureSettings, _ kind: Kind = .processes) throws {
        self.kind = kind
        // By place: two thirds as many for each as all have together elsewhere.
        let own = (0..<settings.processCount).map { place in (0..<10).map { "p\(place)-\($0)" } }
        let shared = (0..<16).map { "k\($0)" }
        let keys = kind == .behind ? own.flatMap { $0 } : shared
        self.keys = keys
        crowd = Crowd(settings, folder: try settings.folder(kind.rawValue), seed: settings.seed) { worker, place in
            var random = SeededGenerator(seed: worker.seed)
            worker.keys = kind == .behind ? own[place] : shared
            switch kind {
            case .processes: break
            case .following:
                worker.usesMemory = true
                worker.followsOthers = true
            case .behind:
                worker.readKeys = keys
                worker.mix = .flushing
                worker.deferredByteCount = Int.random(in: 0...2_000_000, using: &random)
            }
        }
    }

    /// Goes on until time is up or something is wrong.
    func run() throws -> PartReport {
        try crowd.run(kind.rawValue, inRoundsOf: .seconds(kind == .processes ? 3 : 1)) { _, duration, report in
            try run(for: duration, report: &report)
        }
    }

    private func run(for duration: Duration, report: inout PartReport) throws -> [Violation] {
        var history = History(keys: keys, initial: known)
        let defers = kind == .behind
        try crowd.run(for: duration) { child, records, death in
            report.add(1, "kills")
            history.add(records, writer: child.settings.writer, death: death, defers: defers)
        }
        MonotonicTime.now.advanced(by: OperationMix.longestLifetime).wait()
        // Other processes do not see deferred saves yet.
        if defers { for child in crowd.children { _ = try child.perform(.flush) } }
        let (told, disagreements) = try crowd.told(keys)
        report.add(1, "agreements of all")
        known = told.first ?? [:]
        for (child, records) in try crowd.newRecords() {
            history.add(records, writer: child.settings.writer, defers: defers)
        }
        report.add(history.operationCount, "operations")
        if defers { report.add(history.deferredSaveCount, "deferred saves") }
        report.add(history.reads.count, "reads judged")
        return history.judged { self.crowd.wasBegun($0, $1) } + disagreements
    }
}

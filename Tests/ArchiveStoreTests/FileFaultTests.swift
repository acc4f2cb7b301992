import Foundation
import Sealing
import TestSupport
import Testing

@testable import ArchiveStore

/// That a file store keeps its promises when any one call to the system fails, or all from one on: all but success.
@Suite struct FileFaultTests {
    /// How a store is used in which a scenario takes place.
    enum Usage: CaseIterable, Sendable {
        /// It was just opened.
        case cold
        /// It has used the keys before, and keeps its files and directories open.
        case warm
        /// All keys share one name.
        case colliding
        /// Its files are encrypted.
        case sealed

        static let allCases: [Usage] =
            [.cold, .warm, .colliding] + (CipherAlgorithm.isAvailable ? [.sealed] : [])
    }

    @Test(arguments: FaultScenario.all, Usage.allCases)
    func nothingIsLostWhenCallsFail(scenario: FaultScenario, usage: Usage) throws {
        try checkAllFaults(scenario, usage)
    }

    @Test(arguments: FaultScenario.walks, [Usage.cold, .colliding])
    func nothingIsLostWhenCallsOfAWalkFail(scenario: FaultScenario, usage: Usage) throws {
        try checkAllFaults(scenario, usage)
    }

    private func checkAllFaults(_ scenario: FaultScenario, _ usage: Usage) throws {
        let calls = try check(scenario, usage, plan: .nothing)
        #expect(!calls.isEmpty)
        // Most of the 256 directories are missing: the first few of them stand for all.
        var missing: Set<String> = []
        for (index, call) in calls.enumerated() {
            if call.isMissing, missing.insert(call.call.name).inserted, missing.count > 3 { continue }
            // All in the first usage, which makes the most calls; elsewhere one stands for those that are treated
            // alike.
            let once = usage == .cold ? [EIO, ENOSPC, EACCES, EMFILE, EINTR] : [EIO, EINTR]
            let lasting = usage == .cold ? [EIO, EROFS] : [ENOSPC]
            var plans = once.map { FaultyLayer.Plan.once(index, .fail($0)) }
            plans += lasting.map { .from(index, .fail($0)) }
            if call.call.operation == .read || call.call.operation == .write {
                plans.append(.once(index, .shorten(1)))
            }
            // The short run tries every fourth call.
            if !isLongRun, !index.isMultiple(of: 4) { continue }
            for plan in variants(plans, at: index / 4) { try check(scenario, usage, plan: plan) }
        }
        try check(scenario, usage, plan: .from(0, .shorten(1)))
    }

    /// - Returns: the calls that were made, and whether each one's directory of entries was missing.
    @discardableResult
    private func check(
        _ scenario: FaultScenario,
        _ usage: Usage,
        plan: FaultyLayer.Plan
    ) throws -> [(call: FileLayer.Call, isMissing: Bool)] {
        var calls: [(call: FileLayer.Call, isMissing: Bool)] = []
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/cache"
            let place: Comment = "\(scenario.name), \(usage), \(plan)"
            try prepare(scenario, usage, at: path)
            do {
                let faulty = FaultyLayer()
                let store = try open(path, usage, durability: scenario.durability, layer: faulty.layer)
                if usage == .warm { try warmUp(store) }
                var failure: StoreError?
                let made = try faulty.planning(plan) {
                    do {
                        try scenario.act(store)
                    } catch let error as StoreError {
                        failure = error
                    }
                }
                calls = made.map { call in
                    let isShard = call.operation == .open && call.name.utf8.count == 2
                    return (call, isShard && !FileManager.default.fileExists(atPath: path + "/" + call.name))
                }
                #expect(failure == nil || !plan.mustNotShow, "\(String(describing: failure)); \(place)")
                try scenario.checkContent(of: store, and: open(path, usage), after: failure == nil, place)
                // A file that could not be deleted is deleted after the session. Names of encrypted files are random: where two
                // keys share a directory, fewer calls are made, and the plan's one need not come.
                if case .once(let index, _) = plan,
                    !made.indices.contains(index) || made[index].operation != .remove
                {
                    try checkDrafts(path, place)
                }
                try FaultScenario.checkUse(of: store, place)
            }
            try checkTraces(usage, at: path, place)
        }
        return calls
    }

    private func open(
        _ path: String,
        _ usage: Usage,
        durability: StoreSettings.Durability = .process,
        layer: FileLayer = FileLayer()
    ) throws -> FileStore {
        var settings = StoreSettings()
        settings.durability = durability
        if usage == .sealed {
            settings.keys = .of(TrialKeys.one)
            return try FileStore(directory: path, create: true, settings: settings, layer: layer, naming: nil)
        }
        return try FileStore(directory: path, create: true, settings: settings, layer: layer) { key in
            usage == .colliding ? EntryName(high: 1 << 56, low: 2) : EntryName(key)
        }
    }

    private func prepare(_ scenario: FaultScenario, _ usage: Usage, at path: String) throws {
        // Marked by hand, for the store would wait for the device.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try writeFile(StoreMarker.bytes(.file, isSealed: usage == .sealed), path + "/" + StoreMarker.fileName)
        let store = try open(path, usage)
        var damaged: String?
        for (key, archive) in FaultScenario.archives {
            let before = Set(entries(in: path))
            let deadline = FaultScenario.deadlines.old
            try store.save(archive, forKey: key, storedAt: .distantPast, expiresAt: deadline)
            guard scenario.isDamaged, key == FaultScenario.key else { continue }
            damaged = entries(in: path).first { !before.contains($0) }
        }
        if let damaged { try writeFile(readFile(damaged).map { $0 ^ 0x55 }, damaged) }
        // Files that a dead process left.
        for name in ["0123456789abcdef.lock", "0123456789abcdef.3"] {
            try writeFile([1], path + "/.drafts/" + name)
        }
    }

    /// Has a store start its session and open its directories.
    private func warmUp(_ store: FileStore) throws {
        try store.save([1], forKey: "new", storedAt: .now, expiresAt: nil)
        try store.remove(forKey: "new")
        _ = try store.information(forKey: FaultScenario.archives[0].key)
        _ = try store.information(forKey: FaultScenario.archives[2].key)
    }

    /// After one fault, a session has left no draft of its own, nor a lock but its own.
    private func checkDrafts(_ path: String, _ place: Comment) throws {
        let drafts = try FileManager.default.contentsOfDirectory(atPath: path + "/.drafts")
        let own = drafts.filter { !$0.hasPrefix("0123456789abcdef") }
        #expect(own.count <= 1 && own.allSatisfy { $0.hasSuffix(".lock") }, "\(drafts); \(place)")
    }

    /// No draft is left after the next session, and no open file.
    private func checkTraces(_ usage: Usage, at path: String, _ place: Comment) throws {
        do {
            let next = try open(path, usage)
            try next.save([7], forKey: FaultScenario.key, storedAt: .now, expiresAt: nil)
            let drafts = try FileManager.default.contentsOfDirectory(atPath: path + "/.drafts")
            #expect(drafts.count == 1, "\(drafts); \(place)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/.drafts") == [], place)
        if let count = openFileCount(in: path) { #expect(count == 0, place) }
    }
}

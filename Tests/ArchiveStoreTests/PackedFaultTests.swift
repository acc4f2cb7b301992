import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// As ``FileFaultTests``, of a packed store.
@Suite struct PackedFaultTests {
    /// How a store is used in which a scenario takes place.
    enum Usage: CaseIterable, Sendable {
        /// It was just opened, with a snapshot.
        case cold
        /// It was just opened, with a snapshot that is damaged.
        case rescued
        /// It has its session of drafts, and all segments open.
        case warm
        /// All keys share one hash.
        case colliding
        /// Every save begins a segment.
        case narrow
    }

    @Test(arguments: FaultScenario.all + FaultScenario.walks + PackedFaultTests.upkeep, PackedFaultTests.usages)
    func nothingIsLostWhenCallsFail(scenario: FaultScenario, usage: Usage) throws {
        let count = try check(scenario, usage, plan: .nothing)
        // The short run tries an eighth of the calls, a sixteenth in the usages that differ from the first one in details.
        let step = isLongRun ? 1 : usage == .cold ? 8 : 16
        for index in stride(from: 0, to: count, by: step) {
            // A full volume has stores with limits evict entries.
            let once = usage == .cold ? [EIO, ENOSPC, EACCES, EMFILE, EINTR] : [EIO, EINTR]
            let numbers = usage == .narrow || usage == .cold ? once : once + [ENOSPC]
            let lasting = usage == .cold ? [EIO, EROFS] : usage == .narrow ? [EIO] : [ENOSPC]
            var plans = numbers.map { FaultyLayer.Plan.once(index, .fail($0)) }
            plans += lasting.map { .from(index, .fail($0)) }
            plans.append(.once(index, .shorten(1)))
            for plan in variants(plans, at: index / step) {
                try check(scenario, usage, plan: plan)
            }
        }
        try check(scenario, usage, plan: .from(0, .shorten(1)))
    }

    /// Operations that only a packed store has.
    /// The short run tries the usage with the most calls, and the one with the most decisions by keys.
    static let usages: [Usage] = isLongRun ? Usage.allCases : [.cold, .colliding]

    static let upkeep = [
        FaultScenario(name: "compact", act: { try $0.compact() }),
        FaultScenario(
            name: "write the index",
            act: {
                try ($0 as? PackedStore)?.withWritableLog { log throws(StoreError) in try log.snapshots.write() }
            }
        ),
    ]

    /// - Returns: how many calls were made.
    @discardableResult
    private func check(_ scenario: FaultScenario, _ usage: Usage, plan: FaultyLayer.Plan) throws -> Int {
        var count = 0
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/cache"
            let place: Comment = "\(scenario.name), \(usage), \(plan)"
            try prepare(scenario, usage, at: path)
            do {
                let faulty = FaultyLayer()
                let store = try open(path, usage, durability: scenario.durability, layer: faulty.layer)
                if usage == .warm {
                    try store.current.beginSegment()
                    for (key, _) in FaultScenario.archives { _ = try? store.peek(forKey: key) }
                }
                var failure: StoreError?
                count = try faulty.planning(plan) {
                    do {
                        try scenario.act(store)
                    } catch let error as StoreError {
                        failure = error
                    }
                    // Its work in the background meets the same faults.
                    store.finishUpkeep()
                }.count
                #expect(failure == nil || !plan.mustNotShow, "\(String(describing: failure)); \(place)")
                try scenario.checkContent(of: store, and: open(path, usage), after: failure == nil, place)
                try FaultScenario.checkUse(of: store, place)
                store.finishUpkeep()
            }
            let next = try open(path, usage)
            try next.save([7], forKey: FaultScenario.key, storedAt: .now, expiresAt: nil)
            #expect(try next.fetch(forKey: FaultScenario.key)?.archive == [7], place)
            next.finishUpkeep()
        }
        return count
    }

    private func open(
        _ path: String,
        _ usage: Usage,
        durability: StoreSettings.Durability = .process,
        layer: FileLayer = FileLayer()
    ) throws -> PackedStore {
        var settings = StoreSettings()
        settings.durability = durability
        // Far away, but the segments are as short as they can be.
        if usage == .narrow { settings.byteLimit = 6_000 }
        return try PackedStore(directory: path, create: true, settings: settings, layer: layer) { key in
            let digest = KeyDigest(hashing: key)
            return usage == .colliding ? KeyDigest(high: 1 << 60, low: digest.low) : digest
        }
    }

    private func prepare(_ scenario: FaultScenario, _ usage: Usage, at path: String) throws {
        var place: RecordPlace?
        do {
            let store = try open(path, usage)
            for (key, archive) in FaultScenario.archives {
                try store.save(archive, forKey: key, storedAt: .distantPast, expiresAt: FaultScenario.deadlines.old)
                let tail = try #require(store.current.tail.current)
                if key == FaultScenario.key {
                    place = RecordPlace(segment: tail.segment.number, offset: UInt32(tail.end))
                }
            }
            try store.current.snapshots.write()
            store.finishUpkeep()
        }
        if scenario.isDamaged, let place {
            // The last byte of its payload.
            let file = path + "/" + Segment.fileName(place.segment)
            var bytes = try readFile(file)
            bytes[Int(place.offset) - 1] ^= 0x55
            try writeFile(bytes, file)
        }
        if usage == .rescued {
            var bytes = try readFile(path + "/index")
            for index in 3_116..<bytes.count { bytes[index] ^= 0x55 }
            try writeFile(bytes, path + "/index")
        }
    }

    /// Only the header of a segment is read, until the file ends, where nothing was appended since the snapshot.
    @Test func anUnreadableLastRecordKeepsNoOtherFromBeingFound() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let writer = try PackedStore(directory: path, create: true)
            for key in ["a", "b"] { try writer.save([1], forKey: key) }
            try writer.close()
            let faulty = FaultyLayer(failing: [.read])
            func open() throws -> PackedStore {
                try PackedStore(directory: path, create: true, settings: StoreSettings(), layer: faulty.layer) {
                    KeyDigest(hashing: $0)
                }
            }
            let calls = try faulty.planning(.nothing) { _ = try open() }
            let header = try #require(calls.firstIndex { $0.operation == .read && Segment.number($0.name) != nil })
            var store: PackedStore?
            _ = try faulty.planning(.from(header + 2, .fail(EIO))) { store = try open() }
            #expect(try store?.fetch(forKey: "a")?.archive == [1])
            try store?.save([2], forKey: "b")
            #expect(try PackedStore(directory: path, create: true).fetch(forKey: "b")?.archive == [2])
        }
    }
}

extension PackedLog {
    /// Has the log begin its next segment, which starts the session of drafts.
    func beginSegment(dictionary: PresetDictionary? = nil) throws(StoreError) {
        try lock.withExclusiveLog { state throws(StoreError) in
            try state.log.beginSegment(dictionary: dictionary)
            return ()
        }
    }
}

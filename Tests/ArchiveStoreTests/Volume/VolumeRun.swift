import Foundation
import TestSupport

@testable import ArchiveStore

/// Does the steps of a history on a volume, and has an oracle judge all that the stores say.
final class VolumeRun: @unchecked Sendable {
    static let directory = "/volume/cache"

    private let history: VolumeHistory
    private let stage: VolumeStage
    // Used by the actor that has the turn, as the stage is.
    private(set) var oracle: VolumeOracle
    private var stores: [Int: any ArchiveStore] = [:]
    private var pools: [Int: DescriptorPool] = [:]
    private var changed: Set<Int> = []
    /// The work of stores that defer saves, and their saves that are not certain yet, by key.
    private var deferred: [Int: [@Sendable () -> Void]] = [:]
    private var accepted: [Int: [String: Int]] = [:]
    private var failed: Set<Int> = []
    private let actors: [VolumeStage.Actor]

    struct Report {
        var violations: [String] = []
        /// Of all calls and their results.
        var digest: UInt64 = 0
        /// The states after power failures.
        var stateCount = 0
        var callCount = 0
        var readingCount = 0
        var trace: [String] = []

        /// The laws that were broken.
        var laws: Set<String> { Set(violations.map { String($0.prefix { $0 != ":" }) }) }

        fileprivate mutating func add(_ run: VolumeRun) {
            for violation in run.stage.violations + run.oracle.violations where !violations.contains(violation) {
                violations.append(violation)
            }
            digest = digest &* 31 &+ run.stage.digest
            callCount += run.stage.callCount
            readingCount = max(readingCount, run.oracle.readingCount)
            trace += run.stage.trace ?? []
        }
    }

    /// Runs a history, and after its power failure each of some states of the device.
    static func report(_ history: VolumeHistory, states: Range<Int> = 0..<1, traces: Bool = false) -> Report {
        var report = Report()
        let volume = SimulatedVolume(capacity: history.capacity, namesAreOrdered: history.namesAreOrdered)
        volume.makeDirectories("/volume")
        volume.synchronizeAll()
        let promises = VolumeOracle.Promises(
            isLimited: history.byteLimit != nil,
            losesSavedOver: history.layout.hasFiles
        )
        var oracle = VolumeOracle(keys: history.keys, promises: promises)
        if !history.before.isEmpty {
            let run = VolumeRun(
                history,
                on: volume,
                oracle,
                seed: history.seed,
                isInterleaved: false,
                traces: traces
            )
            run.runAll(history.before)
            report.add(run)
            oracle = run.oracle
        }
        let run = VolumeRun(
            history,
            on: volume,
            oracle,
            seed: history.seed,
            isInterleaved: history.isInterleaved,
            traces: traces
        )
        run.stage.begin(after: 2_000_000_000)
        run.runAll(history.steps)
        report.add(run)
        if history.endsWithPowerFailure {
            for state in states {
                report.stateCount += 1
                run.runLater(state, on: SimulatedVolume(copying: volume), traces: traces, &report)
                if !report.violations.isEmpty { break }
            }
        } else {
            run.runEnd(on: volume, traces, &report)
        }
        return report
    }

    private init(
        _ history: VolumeHistory,
        on volume: SimulatedVolume,
        _ oracle: VolumeOracle,
        seed: Int,
        isInterleaved: Bool,
        traces: Bool
    ) {
        self.history = history
        self.oracle = oracle
        stage = VolumeStage(
            volume,
            directory: Self.directory,
            seed: seed,
            isInterleaved: isInterleaved,
            traces: traces
        )
        actors = history.durabilities.map { [stage] _ in stage.addActor() }
        stage.onKill = { [unowned self] actor in self.oracle.kill(actor: actor.number, at: self.stage.moment()) }
        stage.onEmpty = { [unowned self] name in
            // Without its marker or its index, a store has all of its entries.
            if name == "format" || name == "index" { return }
            self.oracle.empty(
                isWhole: name == nil,
                hasHistory: name != nil && !history.layout.hasFiles,
                at: self.stage.moment()
            )
        }
        if history.byteLimit != nil { stage.onWrite = { [unowned self] in self.checkLimit() } }
    }

    private func runAll(_ steps: [VolumeHistory.Step]) {
        if stage.isInterleaved {
            stage.run { [self] actor in
                for (number, step) in steps.enumerated() where step.actor == actor.number {
                    perform(step, number: number, by: actor)
                }
                endProcess(of: actor)
            }
        } else {
            for (number, step) in steps.enumerated() where stage.hasPower {
                perform(step, number: number, by: actors[step.actor])
            }
            for actor in actors { endProcess(of: actor) }
        }
    }

    /// Goes on after the power failure.
    private func runLater(_ state: Int, on volume: SimulatedVolume, traces: Bool, _ report: inout Report) {
        var oracle = oracle
        var rest = history.later[...]
        var count = 0
        repeat {
            var failure = PowerFailure(seed: (history.seed &* 1_000 &+ state) &* 4 &+ count, order: history.order)
            failure.strike(volume)
            oracle.failPower(at: stage.moment() + count * 1_000_000_000)
            count += 1
            let run = VolumeRun(
                history,
                on: volume,
                oracle,
                seed: history.seed &+ count,
                isInterleaved: false,
                traces: traces
            )
            run.stage.begin(after: stage.moment() + count * 1_000_000_000)
            while let step = rest.popFirst() {
                run.perform(step, number: rest.startIndex, by: run.actors[step.actor % run.actors.count])
                if !run.stage.hasPower { break }
            }
            for actor in run.actors { run.endProcess(of: actor) }
            oracle = run.oracle
            report.add(run)
        } while !rest.isEmpty && report.violations.isEmpty
    }

    /// Uses the store once more after a history without a power failure, and compares two openings.
    private func runEnd(on volume: SimulatedVolume, _ traces: Bool, _ report: inout Report) {
        let run = VolumeRun(
            history,
            on: volume,
            oracle,
            seed: history.seed &+ 1,
            isInterleaved: false,
            traces: traces
        )
        run.stage.begin(after: stage.moment())
        let key = history.keys[history.seed % history.keys.count]
        let actions: [VolumeHistory.Action] = [
            .check, .exit, .save([key], byteCount: 100), .close, .check, .exit, .check,
        ]
        for action in actions where report.violations.isEmpty {
            run.perform(VolumeHistory.Step(actor: 0, action: action), number: 0, by: run.actors[0])
        }
        for actor in run.actors { run.endProcess(of: actor) }
        report.add(run)
    }

    // MARK: Steps

    private func perform(_ step: VolumeHistory.Step, number: Int, by actor: VolumeStage.Actor) {
        stage.begin(actor, step: number, event: step.event)
        if stage.hasPower {
            let removal = step.event == nil ? nil : beginFailure(of: actor)
            work(for: actor, upTo: (number &* 7 &+ history.seed) % 3)
            // In some histories, the process needs its descriptors for other stores now and then.
            if history.seed % 4 == 3, number % 2 == 1 { _ = pools[actor.number]?.suspendOne() }
            perform(step.action, actor)
            if let removal { endFailure(removal, of: actor) }
        }
        stage.end(actor)
        if actor.isDead {
            dropStore(of: actor)
            stage.restart(actor)
        }
    }

    /// The process ends without closing its store.
    private func endProcess(of actor: VolumeStage.Actor) {
        if stage.hasPower { stage.exit(actor) }
        dropStore(of: actor)
    }

    private func dropStore(of actor: VolumeStage.Actor) {
        // A store that is dropped does its work first: the calls have no effect in a process that is no more.
        if !isAlive(actor) { work(for: actor) }
        stores[actor.number] = nil
        pools[actor.number] = nil
        changed.remove(actor.number)
        deferred[actor.number] = nil
        accepted[actor.number] = nil
    }

    /// Does so much of the work that a store has deferred.
    private func work(for actor: VolumeStage.Actor, upTo most: Int = .max) {
        var count = 0
        while count < most, let first = deferred[actor.number]?.first {
            deferred[actor.number]?.removeFirst()
            first()
            count += 1
        }
    }

    /// A deferred save is accepted: it takes the place of a former one of the key.
    private func accept(_ number: Int?, _ key: String, by actor: VolumeStage.Actor, at time: Int) {
        if let former = accepted[actor.number]?[key] { oracle.supersede(former, at: time) }
        accepted[actor.number, default: [:]][key] = number
    }

    /// A call may fail: a deferred save that fails removes the entry that it was to replace, and is told later.
    private func beginFailure(of actor: VolumeStage.Actor) -> Int? {
        guard history.layout == .packedBehind else { return nil }
        let keys = (accepted[actor.number] ?? [:]).keys.sorted()
        return oracle.beginRemoval(keys, by: actor.number, isDurable: false, at: stage.moment())
    }

    private func endFailure(_ removal: Int, of actor: VolumeStage.Actor) {
        guard stage.hasPower else { return }
        if actor.hasFailed { failed.insert(actor.number) }
        oracle.end(removal, isDone: false, at: stage.moment())
    }

    /// All deferred saves are written, or one of them has failed.
    private func endAccepted(of actor: VolumeStage.Actor, isDone: Bool) {
        guard stage.hasPower else { return }
        for (_, number) in (accepted[actor.number] ?? [:]).sorted(by: { $0.value < $1.value }) {
            oracle.end(number, isDone: isDone, at: stage.moment())
        }
        accepted[actor.number] = nil
    }

    private func isAlive(_ actor: VolumeStage.Actor) -> Bool { stage.hasPower && !actor.isDead }

    private func isDurable(_ actor: VolumeStage.Actor) -> Bool {
        history.isJudgedAsDurable || history.durabilities[actor.number] == .power
    }

    private func perform(_ action: VolumeHistory.Action, _ actor: VolumeStage.Actor) {
        switch action {
        case .fetch, .check: actor.isReading = true
        case .close: actor.isReading = !changed.contains(actor.number)
        default: actor.isReading = false
        }
        defer { actor.isReading = false }
        switch action {
        case .exit:
            endProcess(of: actor)
            stage.restart(actor)
            return
        case .age:
            stage.volume.synchronizeAll()
            oracle.synchronizeAll()
            return
        default: break
        }
        var opened: (any ArchiveStore)?
        attempt(actor, "opening") { opened = try store(of: actor) }
        guard let store = opened else { return }
        switch action {
        // These wait for the saves that were deferred.
        case .check, .compact, .flush, .close: work(for: actor)
        default: break
        }
        switch action {
        case .save(let keys, let byteCount):
            changed.insert(actor.number)
            save(keys, byteCount: byteCount, in: store, by: actor)
        case .fetch(let key): fetch(key, in: store, actor)
        case .check: check(store, actor)
        case .remove(let key):
            changed.insert(actor.number)
            remove([key], actor) { _ = try store.remove(forKey: key) }
        case .removeAll:
            changed.insert(actor.number)
            remove(nil, actor) { try store.removeAll() }
        case .compact:
            changed.insert(actor.number)
            attempt(actor, "compacting") { _ = try store.compact() }
        case .flush:
            let isDone = attempt(actor, "flushing") { try store.flush() }
            endAccepted(of: actor, isDone: isDone)
        case .close:
            let isDone = attempt(actor, "closing") { try store.close() }
            endAccepted(of: actor, isDone: isDone)
            dropStore(of: actor)
        case .exit, .age: break
        }
    }

    private func store(of actor: VolumeStage.Actor) throws -> any ArchiveStore {
        if let store = stores[actor.number] { return store }
        var settings = StoreSettings()
        settings.durability = history.durabilities[actor.number]
        settings.byteLimit = history.byteLimit
        settings.leastSegmentByteCount = VolumeHistory.leastSegmentByteCount
        if history.seed % 4 != 0 { settings.compression = .stored }
        if history.layout.isSealed { settings.keys = .of(TrialKeys.one) }
        let pool = DescriptorPool(limit: .max)
        pools[actor.number] = pool
        let layer = stage.layer(of: actor, pool)
        let create = !actor.isReading || !history.readersOnlyRead
        var store: any ArchiveStore =
            switch history.layout {
            case .packed, .packedBehind, .sealedPacked:
                try PackedStore(directory: Self.directory, create: create, settings: settings, layer: layer) {
                    KeyDigest(hashing: $0)
                }
            case .files:
                try FileStore(directory: Self.directory, create: create, settings: settings, layer: layer) {
                    EntryName($0)
                }
            case .sealedFiles:
                try FileStore(
                    directory: Self.directory,
                    create: create,
                    settings: settings,
                    layer: layer,
                    naming: nil
                )
            }
        if history.layout == .packedBehind {
            let number = actor.number
            store = WriteBehindStore(over: store, byteLimit: 1 << 30) { [unowned self] work in
                deferred[number, default: []].append(work)
            }
        }
        stores[actor.number] = store
        return store
    }

    /// Does an operation that may fail only if a call of it was made to fail, or the process has ended.
    @discardableResult
    private func attempt(_ actor: VolumeStage.Actor, _ action: String, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return isAlive(actor)
        } catch {
            guard isAlive(actor), !actor.hasFailed, !failed.contains(actor.number) else { return false }
            if let error = error as? StoreError {
                if error.isOutOfSpace, history.capacity < 1 << 20 || history.byteLimit != nil { return false }
                if error.code == .tooLarge, history.byteLimit != nil { return false }
                if error.isMissingFile, actor.isReading, history.readersOnlyRead { return false }
                if error.code == .invalidDirectory { return refuse(actor, action, cause: error) }
            }
            oracle.report("THROWN", "\(action) by process \(actor.process): \(error)")
            return false
        }
    }

    private func refuse(_ actor: VolumeStage.Actor, _ action: String, cause error: StoreError) -> Bool {
        oracle.report("REFUSED", "\(action) by process \(actor.process): \(error)")
        return false
    }

    private func save(_ keys: [String], byteCount: Int, in store: any ArchiveStore, by actor: VolumeStage.Actor) {
        var news: [(number: Int, new: NewArchive)] = []
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000)
        for key in Set(keys).sorted() {
            let (number, archive) = oracle.beginSave(
                key,
                byteCount,
                by: actor.number,
                isDurable: isDurable(actor),
                at: stage.moment()
            )
            let attributes = EntryAttributes(storedAt: date, expiresAt: nil)
            news.append((number, NewArchive(key: key, archive: archive, attributes: attributes)))
        }
        func end(_ number: Int, _ result: Result<EntryInformation?, StoreError>) {
            let isDone = attempt(actor, "saving") { _ = try result.get() }
            if isDone, history.layout == .packedBehind,
                let key = news.first(where: { $0.number == number })?.new.key
            {
                accept(number, key, by: actor, at: stage.moment())
            } else if stage.hasPower {
                oracle.end(number, isDone: isDone, at: stage.moment())
            }
        }
        if news.count == 1, let (number, new) = news.first {
            let result = Result { () throws(StoreError) in
                try store.save(new.archive, forKey: new.key, attributes: new.attributes, if: nil)
            }
            end(number, result)
        } else {
            let results = store.save(news.map(\.new))
            for (new, result) in zip(news, results) { end(new.number, result) }
        }
    }

    private func remove(_ keys: [String]?, _ actor: VolumeStage.Actor, _ body: () throws -> Void) {
        let begin = stage.moment()
        let number = oracle.beginRemoval(keys, by: actor.number, isDurable: isDurable(actor), at: stage.moment())
        let isDone = attempt(actor, "removing", body)
        // Deferred saves are dropped; after a failure they wait again.
        for key in isDone ? keys ?? history.keys : [] { accept(nil, key, by: actor, at: begin) }
        if stage.hasPower { oracle.end(number, isDone: isDone, at: stage.moment()) }
    }

    // MARK: Readings

    @discardableResult
    private func fetch(_ key: String, in store: any ArchiveStore, _ actor: VolumeStage.Actor) -> VolumeOracle.Found?
    {
        let begin = stage.moment()
        var found: VolumeOracle.Found? = .version(0)
        let isDone = attempt(actor, "fetching \(key)") {
            do throws(StoreError) {
                guard let stored = try store.fetch(forKey: key) else { return }
                found = oracle.found(stored.archive, key)
            } catch {
                guard error.code == .corrupted else { throw error }
                found = .damaged
            }
        }
        guard isDone, let found else { return nil }
        oracle.judge(found, key, from: begin, to: stage.moment(), by: "process \(actor.process)")
        return found
    }

    private func check(_ store: any ArchiveStore, _ actor: VolumeStage.Actor) {
        let (number, begin) = (oracle.lastNumber, stage.moment())
        var there: Set<String> = []
        for key in history.keys {
            guard let found = fetch(key, in: store, actor) else { return }
            if found != .version(0), found != .damaged { there.insert(key) }
        }
        var listed: [String] = []
        let isListed = attempt(actor, "listing") {
            try store.forEachEntry { entry in
                if case .success(let entry) = entry { listed.append(entry.key) }
                return true
            }
        }
        // Others may have changed entries between, or emptied the folder.
        guard isListed, !stage.isInterleaved, oracle.lastNumber == number, begin >= oracle.noticedAt,
            listed.sorted() != there.sorted()
        else { return }
        oracle.report("LIST", "process \(actor.process) lists \(listed.sorted()), and fetches \(there.sorted())")
    }

    /// The segments together never take more than the limit.
    private func checkLimit() {
        guard let limit = history.byteLimit else { return }
        let names = stage.volume.names(at: Self.directory).filter { $0.hasSuffix(".segment") }
        let total = names.reduce(0) { $0 + (stage.volume.byteCount(at: Self.directory + "/" + $1) ?? 0) }
        if total > limit { oracle.report("LIMIT", "the segments take \(total) of \(limit) bytes") }
    }
}

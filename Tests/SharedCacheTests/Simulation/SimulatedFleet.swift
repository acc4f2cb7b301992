import Foundation

@testable import SharedCache
@testable import TypedCache

/// Processes on a cluster, with work and faults that follow from a seed.
final class SimulatedFleet {
    let seed: Int
    let events: EventQueue
    let oracle: Oracle
    private let cluster: SimulatedCluster
    private let variant: Variant
    private var processes: [SimulatedProcess] = []
    /// Bytes that are on their way refer to their process.
    private var dead: [SimulatedProcess] = []
    private var lastProcess = 0
    private let keys: [SimulatedKey]
    private let pause: Moment
    private let weather: Weather
    private var isQuiet = false

    private static let duration: Moment = 600_000
    private static let tags = ["red", "green"]

    init(seed: Int, processCount: Int, _ variant: Variant = .right) {
        self.seed = seed
        self.variant = variant
        events = EventQueue(seed: seed)
        weather = Weather(seed: seed)
        keys = (0..<(3 + events.number(below: 4))).map { SimulatedKey("k\($0)") }
        pause = Moment(processCount) * 1_500 + 2_000
        oracle = Oracle(
            events,
            window: SimulatedProcess.window,
            keys: keys.map(\.text),
            names: EntryNames(prefix: SimulatedProcess.prefix, cache: "cache", schema: 1),
            isFaultless: weather.kind == .calm
        )
        cluster = SimulatedCluster(events, weather, oracle: oracle)
        oracle.shardOf = { [unowned cluster] in cluster.shard(of: $0).number }
        for engine in cluster.shards.flatMap({ [$0.master, $0.replica] }) {
            engine.keepsLeases = variant == .noEndOfLease
            engine.hidesDeadlines = variant == .untoldDeadline
        }
        for _ in 0..<processCount { begin() }
    }

    /// Runs everything, and gives the violations of the laws.
    func run() -> [String] {
        if let pause = weather.faultPause { fail(each: pause) }
        events.run(until: Self.duration)
        isQuiet = true
        cluster.isQuiet = true
        for process in processes { process.heal() }
        // Until all that was late has come, and debts are paid.
        events.run(until: events.now + 650_000)
        for process in processes { checkEnd(process) }
        events.run(until: events.now + 400_000)
        oracle.judgeEnd()
        events.removeAll()
        return oracle.violations
    }

    private func begin() {
        lastProcess += 1
        let ahead: Double = [0, 3_600, -3_600, 0.3, -0.7][events.number(below: 5)]
        let process = SimulatedProcess(number: lastProcess, cluster, variant, secondsAhead: ahead)
        processes.append(process)
        process.start { [self] in
            for _ in 0..<2 { work(process) }
            watch(process)
        }
    }

    // MARK: Work

    /// Whether a process changes nothing, and seldom calls: so it finds out late that a node is no longer a master.
    private func isReader(_ process: SimulatedProcess) -> Bool { process.number % 3 == 0 }

    private func work(_ process: SimulatedProcess) {
        process.after(events.pause(mean: isReader(process) ? weather.readersPause * pause : pause)) {
            [unowned self, unowned process] in
            if !isQuiet { step(process) { [unowned self, unowned process] in work(process) } }
        }
    }

    /// Fetches the entries in memory again and again: stale ones are found there.
    private func watch(_ process: SimulatedProcess) {
        process.after(events.pause(mean: 8_000)) { [unowned self, unowned process] in
            if isQuiet { return }
            let (number, begin) = (process.number, events.now)
            for key in keys where process.table.contains(key.entry) {
                process.fetch(key) { [oracle] in oracle.fetched($0, key.text, by: number, since: begin) }
            }
            watch(process)
        }
    }

    private func step(_ process: SimulatedProcess, _ done: @escaping () -> Void) {
        let (number, begin) = (process.number, events.now)
        let key = keys[events.number(below: keys.count)]
        let name = key.text
        switch events.number(below: isReader(process) ? 600 : 1_000) {
        case 0..<570:
            let isLatest = events.chance(0.05)
            process.fetch(key, isLatest: isLatest) { [oracle] in
                oracle.fetched($0, name, by: number, since: begin, kind: isLatest ? .latest : .usual)
                done()
            }
        case 570..<600:
            let lifetime = events.moment(1_000...200_000)
            let deadline = events.now + lifetime
            var move: Int?
            process.extend(key, by: Double(lifetime) / 1e6) { [oracle] version in
                move = oracle.beginMove(of: version, to: deadline)
            } _: { [oracle] isDone in
                if let move { oracle.endMove(move, isDone: isDone) }
                done()
            }
        case 600..<790:
            process.load(key, time: events.moment(200...40_000), tags: tags) { [oracle] in
                oracle.fetched($0, name, by: number, since: begin, kind: .load)
                done()
            }
        case 790..<860:
            let tags = tags
            let (call, version) = oracle.beginSave(name, by: number, tags: tags)
            let lifetime = events.chance(0.3) ? Double(events.moment(5_000...200_000)) / 1e6 : nil
            process.save(key, version, lifetime: lifetime, tags: tags) { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        case 860..<920:
            let call = oracle.beginChange(name, by: number)
            process.modify(key) { [oracle] in
                oracle.changed(call, from: $0)
            } _: { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        case 920..<935:
            let call = oracle.beginRemoval(name, by: number, isMade: false)
            process.removeSeen(key) { [oracle] in
                oracle.made(call)
            } _: { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        case 935..<980:
            let call = oracle.beginRemoval(name, by: number)
            process.remove(key) { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        case 980..<990:
            let call = oracle.beginRemoval(nil, by: number)
            process.removeAll { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        default:
            let tag = Self.tags[events.number(below: Self.tags.count)]
            let call = oracle.beginRemoval(nil, tag: tag, by: number)
            process.removeAll(tagged: tag) { [oracle] in
                oracle.end(call, isDone: $0)
                done()
            }
        }
    }

    private var tags: [String] { Self.tags.filter { _ in events.chance(0.3) } }

    /// All processes agree with the engine once changes have ended.
    private func checkEnd(_ process: SimulatedProcess) {
        // The first call may find that a node is no longer a master.
        for key in keys {
            process.fetch(key) { [unowned self, unowned process] _ in
                process.after(150_000) { [unowned self, unowned process] in checkEnd(process, key) }
            }
        }
    }

    private func checkEnd(_ process: SimulatedProcess, _ key: SimulatedKey) {
        let (number, begin) = (process.number, events.now)
        process.fetch(key) { [oracle, events] value in
            oracle.fetched(value, key.text, by: number, since: begin)
            let current = oracle.current(key.text)
            let isExpired = (oracle.deadlines[current] ?? nil).map { $0 < events.now + 4_000_000 } ?? false
            if value != (current == 0 ? .none : .found(current)), !isExpired {
                oracle.report("end", "process \(number) fetched \(value) of \(key.text), which has \(current)")
            }
        }
    }

    // MARK: Faults

    private func fail(each pause: Moment) {
        events.after(events.pause(mean: pause)) { [unowned self] in
            if isQuiet { return }
            oracle.count("faults")
            let shard = cluster.shards[events.number(below: 3)]
            let victim = events.number(below: processes.count)
            let process = processes[victim]
            let kind = weather.fault(events)
            oracle.tell("fault \(kind) of shard \(shard.number) or process \(process.number)")
            switch kind {
            case 0, 1, 2: cluster.cutConnections(of: shard, chance: 0.5)
            case 3, 4: process.stop(for: events.moment(1_000...200_000))
            case 5, 6: process.unplug(for: events.moment(1_000...300_000))
            case 7:
                process.kill()
                dead.append(processes.remove(at: victim))
                begin()
            case 8: cluster.stop(shard, for: events.moment(1_000...200_000))
            case 9: cluster.crash(shard, failsOver: events.chance(0.5))
            case 10, 11: cluster.cutOff(shard, for: events.moment(weather.cutOff))
            case 12: shard.master.role == .master ? shard.master.removeAll() : ()
            default:
                let names = shard.names
                if !names.isEmpty, shard.master.role == .master {
                    shard.master.evict(names[events.number(below: names.count)])
                }
            }
            fail(each: pause)
        }
    }
}

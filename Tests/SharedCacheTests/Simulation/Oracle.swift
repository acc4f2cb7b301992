@testable import SharedCache

/// Knows the history of the true state, with times, and the begin and end of all calls, and judges by them alone: it never
/// sees a value of the protocol.
final class Oracle {
    enum Cause { case command, loss, promotion }

    /// The origin of a version.
    enum Origin {
        case save
        /// A change of the version that was read; 0 for none.
        case change(of: UInt64)
        /// A load, with the moment at which its producer began.
        case load(since: Moment)
    }

    private struct Version {
        let key: String
        let origin: Origin
        var tags: [String] = []
        /// The call that saves it; `nil` for a load.
        var call: Int?
    }

    /// A save, a change or a removal.
    private struct Call {
        let process: Int
        /// `nil` for all keys, or those with a tag.
        let key: String?
        let tag: String?
        let version: UInt64
        let begin: Moment
        var end: Moment?
        var isDone = false
        /// The place of its version in the order of versions when it ended.
        var position: Moment?
        /// Whether it has done more than read.
        var isMade = true
    }

    private struct Fetch {
        let end: Moment
        let version: UInt64
        /// The version's place in the order of versions then: a save that began again in another generation gets a later one.
        let position: Moment
    }

    private struct Producer {
        let key: String
        let isLeased: Bool
        /// When the load began, and its producer.
        let load: Moment
        let begin: Moment
        let process: Int
    }

    private struct Place: Hashable {
        let process: Int
        let key: String
    }

    /// How long after a value was saved a load that waits for it goes on waiting at most: for a message, or until it asks
    /// again, and for its answers.
    private static let longestWait: Moment = 200_000

    private let events: EventQueue
    private let window: Moment
    private let keys: [String]
    private var engines: EngineHistory
    /// Whether no fault is made in this run.
    let isFaultless: Bool
    private(set) var violations: [String] = []
    private(set) var counts: [String: Int] = [:]
    /// How long reading the engine's clock has taken at most.
    var clockError: Moment = 0
    /// By the engine's clock, as they were saved.
    var deadlines: [UInt64: Moment?] = [:]
    private var moves = DeadlineMoves()

    private var lastNumber: UInt64 = 0
    private var versions: [UInt64: Version] = [:]
    private var calls: [Int: Call] = [:]
    private var lastCall = 0
    /// Calls by key that have ended, or are under way; those of all keys have none.
    private var callsOfKey: [String?: [Int]] = [:]
    private var fetches: [Place: [Fetch]] = [:]
    private var producers: [Int: Producer] = [:]
    private var lastProducer = 0
    private var lastPromotion: Moment = .min
    /// Loaded values that were saved, and refused or taken back.
    private var refusedVersions: Set<UInt64> = []
    var shardOf: (String) -> Int = { _ in 0 }

    init(_ events: EventQueue, window: Moment, keys: [String], names: EntryNames, isFaultless: Bool) {
        self.events = events
        self.window = window
        self.keys = keys
        engines = EngineHistory(keys, names)
        self.isFaultless = isFaultless
    }

    func report(_ law: String, _ evidence: String) {
        if violations.count < 20 { violations.append("\(law) at \(events.now) µs: \(evidence)") }
    }

    /// Prints each event, to find the cause of a violation.
    var isTelling = false

    func tell(_ event: @autoclosure () -> String) {
        if isTelling { print("\(events.now) \(event())") }
    }

    func count(_ name: String) { counts[name, default: 0] += 1 }

    func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Versions

    private func add(_ key: String, _ origin: Origin, tags: [String], call: Int?) -> UInt64 {
        let number = nextNumber()
        versions[number] = Version(key: key, origin: origin, tags: tags, call: call)
        return number
    }

    /// The version that an archive proves to be.
    func version(in archive: [UInt8], for key: String) -> UInt64 {
        let words = String(decoding: archive, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == key, let version = UInt64(words[1]), versions[version]?.key == key
        else {
            report("G6", "\(key) was answered with \(words)")
            return 0
        }
        return version
    }

    // MARK: The true state

    func names(of shard: Int) -> [String] { engines.names.filter { shardOf($0) == shard } }

    /// A change of the true state.
    func engineChanged(_ name: String, _ new: ModelEngine.Item?, cause: Cause) {
        if name.hasPrefix("tcl:") { return }
        tell("\(name) becomes \(new.map { EngineHistory.version(of: $0.bytes) } ?? 0) by \(cause)")
        for step in engines.change(name, new?.bytes, at: events.now) where cause == .command && step.version != 0 {
            judge(step)
        }
    }

    /// A master has lost all that it had.
    func lost(_ shard: Int) {
        for name in names(of: shard).sorted() { engineChanged(name, nil, cause: .loss) }
    }

    func promoted(_ shard: Int) {
        lastPromotion = events.now
        moves.promoted(at: events.now)
        count("promotions")
        tell("promotion in shard \(shard)")
    }

    /// Judges a version that becomes the current one.
    private func judge(_ step: EngineHistory.Step) {
        let (key, version) = (step.key, step.version)
        guard let known = versions[version] else {
            return report("G6", "\(key) has \(version), which nobody saved")
        }
        // A call that failed may be executed later.
        let isUnderWay = known.call.flatMap { calls[$0] }.map { !$0.isDone } ?? false
        if step.wasThere, !isUnderWay { report("G8", "\(version) of \(key) came back") }
        switch known.origin {
        case .save: break
        case .change(let seen):
            if seen != step.former {
                report("G5", "\(key) had \(step.former), and was changed from \(seen) to \(version)")
            }
        case .load(let since):
            for number in (callsOfKey[key] ?? []) + (callsOfKey[nil] ?? []) {
                guard let call = calls[number], call.isDone, call.tag == nil, call.begin > since,
                    lastPromotion < call.begin
                else { continue }
                report("G4", "\(version) of \(key), loaded since \(since), was saved after \(call)")
            }
        }
    }

    func current(_ key: String) -> UInt64 { engines.current(key) }

    // MARK: Changes

    /// A save begins; with `former`, a change of that version.
    ///
    /// - Returns: the number of the call, and the version.
    func beginSave(_ key: String, by process: Int, tags: [String]) -> (call: Int, version: UInt64) {
        let version = add(key, .save, tags: tags, call: lastCall + 1)
        return (begin(key, tag: nil, version: version, by: process), version)
    }

    func beginChange(_ key: String, by process: Int) -> Int {
        let call = begin(key, tag: nil, version: 0, by: process)
        calls[call]?.isMade = false
        return call
    }

    /// A new version of a change that has begun, made of one that was read.
    func changed(_ call: Int, from former: UInt64) -> UInt64 {
        guard let known = calls[call], let key = known.key else { return 0 }
        let version = add(key, .change(of: former), tags: [], call: call)
        calls[call] = Call(process: known.process, key: key, tag: nil, version: version, begin: known.begin)
        return version
    }

    /// - Parameters:
    ///   - key: `nil` for all keys.
    ///   - tag: of the entries; `nil` for all.
    func beginRemoval(_ key: String?, tag: String? = nil, by process: Int, isMade: Bool = true) -> Int {
        let call = begin(key, tag: tag, version: 0, by: process)
        calls[call]?.isMade = isMade
        return call
    }

    /// A removal of an entry that was read begins to do more than that.
    func made(_ call: Int) { calls[call]?.isMade = true }

    private func begin(_ key: String?, tag: String?, version: UInt64, by process: Int) -> Int {
        lastCall += 1
        calls[lastCall] = Call(process: process, key: key, tag: tag, version: version, begin: events.now)
        callsOfKey[key, default: []].append(lastCall)
        return lastCall
    }

    func end(_ call: Int, isDone: Bool) {
        calls[call]?.end = events.now
        tell("\(isDone ? "done" : "failed"): \(calls[call].map { "\($0)" } ?? "")")
        calls[call]?.isDone = isDone
        if let known = calls[call], let key = known.key {
            calls[call]?.position = engines.position(known.version, key)
        }
        count(isDone ? "changes" : "failed changes")
    }

    /// The deadline of a version begins to be moved.
    func beginMove(of version: UInt64, to deadline: Moment) -> Int {
        tell("the deadline of \(version) begins to be moved to \(deadline)")
        return moves.begin(version, to: deadline, at: events.now)
    }

    func endMove(_ move: Int, isDone: Bool) {
        tell("move \(move) is \(isDone ? "done" : "not done")")
        moves.end(move, isDone: isDone, at: events.now)
        count(isDone ? "moves" : "failed moves")
    }

    // MARK: Fetches

    enum FetchKind {
        case usual
        /// The value that the engine has now.
        case latest
        /// Loads a missing value.
        case load
    }

    func fetched(
        _ value: FetchedValue,
        _ key: String,
        by process: Int,
        since begin: Moment,
        kind: FetchKind = .usual
    ) {
        tell("process \(process) fetched \(value) of \(key), begun at \(begin)")
        guard case .found(let version) = value else {
            return count(value == .failed ? "failed fetches" : "misses")
        }
        count("found")
        let place = Place(process: process, key: key)
        guard let known = versions[version] else { return report("G6", "\(key) was answered with \(version)") }
        let evidence = "process \(process) fetched \(version) of \(key), begun at \(begin)"
        // A load's own value, which need not have been saved.
        let isOwn = kind == .load && engines.lastStart(version, key) == nil
        if isOwn, case .load = known.origin { return }
        if !engines.wasCurrent(version, from: begin - (kind == .latest ? 0 : window), to: events.now) {
            report("G1", "\(evidence); history \(engines.steps(key, from: version))")
        }
        if let deadline = moves.latest(of: version, saved: deadlines[version] ?? nil, at: begin - window),
            begin > deadline + clockError + 1_000
        {
            report("G1", "\(evidence), which expired at \(deadline)")
        }
        let start = engines.position(version, key) ?? 0
        // Loads that wait for one producer all see its value at once, however many there are.
        if isFaultless, kind == .load, case .load = known.origin, begin < start,
            start + Self.longestWait < events.now
        {
            report("G9", "\(evidence), which was there since \(start)")
        }
        for number in (callsOfKey[key] ?? []) + (callsOfKey[nil] ?? []) {
            guard let call = calls[number], call.process == process, let end = call.end, end < begin else {
                continue
            }
            if let tag = call.tag, !known.tags.contains(tag) { continue }
            if call.isDone {
                let own = call.version == 0 ? call.begin : call.position
                if version != call.version, let own, start < own { report("G2", "\(evidence), after \(call)") }
            } else if call.tag == nil, call.isMade,
                start < call.begin || version == call.version && lastPromotion < call.begin
            {
                // A master may have taken the payment of the debt along.
                report("G2", "\(evidence), after failed \(call)")
            }
        }
        for former in (fetches[place] ?? []).suffix(12) where former.end < begin && former.version != version {
            if start < former.position { report("G3", "\(evidence), after \(former.version)") }
        }
        fetches[place, default: []].append(Fetch(end: events.now, version: version, position: start))
    }

    func died(_ process: Int) {
        producers = producers.filter { $0.value.process != process }
        for (number, call) in calls where call.process == process && call.end == nil {
            // It may yet be executed.
            calls[number] = nil
        }
    }

    // MARK: Loads

    func beginProducer(_ key: String, by process: Int, isLeased: Bool, since load: Moment) -> Int {
        if isFaultless, isLeased {
            for other in producers.values
            where other.key == key && other.isLeased && !isChanged(key, since: min(other.load, load)) {
                report("G7", "producers of \(key): \(other) and of \(process) since \(load)")
            }
        }
        count("producers")
        lastProducer += 1
        producers[lastProducer] = Producer(
            key: key,
            isLeased: isLeased,
            load: load,
            begin: events.now,
            process: process
        )
        return lastProducer
    }

    /// Whether a change of a key was under way since a time. The debt of one that failed is paid at any time later, which
    /// ends the key's lease.
    private func isChanged(_ key: String, since time: Moment) -> Bool {
        let numbers = (callsOfKey[key] ?? []) + (callsOfKey[nil] ?? [])
        return numbers.contains { number in
            guard let call = calls[number], let end = call.end else { return true }
            return end > time || !call.isDone && call.isMade
        }
    }

    /// - Returns: the version that was produced.
    func endProducer(_ number: Int, tags: [String]) -> UInt64 {
        guard let producer = producers.removeValue(forKey: number) else { return 0 }
        return add(producer.key, .load(since: producer.begin), tags: tags, call: nil)
    }

    /// A loaded value was not saved, or was taken back.
    func refused(_ version: UInt64) {
        count("refused loads")
        refusedVersions.insert(version)
    }

    // MARK: The end

    /// Judges the true state when all is quiet.
    func judgeEnd() {
        // A lost removal of all brings a generation back, with values that were refused for it.
        if lastPromotion != .min { return }
        for key in keys {
            if refusedVersions.contains(current(key)) {
                report("G4", "\(current(key)) of \(key) was refused, and is there")
            }
        }
    }
}

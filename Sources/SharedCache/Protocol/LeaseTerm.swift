import ArchiveStore
import RedisWire

/// A key of the engine that one load has, while it is there: it expires by itself, removals and saves delete it. A value
/// without I/O, clock or locks.
struct LeaseTerm: Sendable {
    let key: StoreKey
    let generation: Generation
    private let token: String
    private let milliseconds: Int
    private let script: EntryScript
    /// The last bytes of the entry that the engine had when the lease was taken.
    private var seen: [UInt8] = []
    /// The value that removals by tag change.
    fileprivate var tagRemovals: [UInt8]?

    fileprivate init(of key: StoreKey, _ names: EntryNames, _ generation: Generation, milliseconds: Int) {
        self.key = key
        self.generation = generation
        self.milliseconds = milliseconds
        token = String(UInt64.random(in: 0 ... .max), radix: 16)
        script = EntryScript(name: names.entry(key.string, generation))
    }

    var foundEntry: Bool { !seen.isEmpty }

    /// Takes the lease, if no other load has it, and looks at the entry.
    ///
    /// - Parameter unlessFresh: whether none is taken if there is a fresh entry.
    fileprivate func taking(unlessFresh: Bool) -> RedisCommand {
        script.takeLease(token, milliseconds: milliseconds, unlessFresh: unlessFresh)
    }

    fileprivate mutating func begin(found entry: [UInt8], tagRemovals: RedisValue) {
        seen = entry
        self.tagRemovals = tagRemovals.bytes
    }

    /// Lets the lease last as long as at first; 0 is the answer for one that has ended.
    var extending: RedisCommand { script.extendLease(token, to: milliseconds) }
    var ending: RedisCommand { script.endLease(token) }

    /// Saves the loaded value and ends the lease.
    fileprivate func saving(_ new: NewEntry) -> RedisCommand {
        script.save(new, lease: token, replacing: seen)
    }
}

/// The server's answer to a load that asks for a lease.
enum LeaseState: Int64 {
    case heldByAnother = 0
    case taken = 1
    /// There is a fresh entry, and no lease was taken.
    case fresh = 2
}

/// Takes the leases of keys, up to the first one that another load has.
struct TakeLeases: EntryCall {
    enum Answer {
        case taken(LeaseTerm)
        /// There is a fresh entry, and no lease was taken.
        case fresh
    }

    struct Taken {
        /// For the first keys.
        let answers: [Answer]
        /// Leases after one that another load has, to be given back: kept while waiting for that one, they could make
        /// other loads wait for this one.
        let surplus: [LeaseTerm]

        var leases: [LeaseTerm] {
            answers.compactMap { if case .taken(let lease) = $0 { lease } else { nil } }
        }
    }

    let keys: [StoreKey]
    /// For each key whether no lease is taken if there is a fresh entry.
    private let unlessFresh: [Bool]
    let milliseconds: Int
    let action = "joining loads among machines"
    /// The leases that were asked for. The engine may take them even if its answer is lost.
    private(set) var requested: [LeaseTerm] = []
    /// How often leases were asked for: each time others.
    private(set) var rounds = 0

    init(_ keys: [StoreKey], unlessFresh unseen: Set<String> = [], milliseconds: Int) {
        self.keys = keys
        unlessFresh = keys.map { unseen.contains($0.string) }
        self.milliseconds = milliseconds
    }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        rounds += 1
        requested = keys.map { LeaseTerm(of: $0, names, generation, milliseconds: milliseconds) }
        return zip(requested, unlessFresh).map { $0.taking(unlessFresh: $1) } + [["GET", .text(names.tagRemovals)]]
    }

    func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<Taken> {
        let states = requested.indices.map { Self.state(in: answers[$0]) }
        let count = states.firstIndex { $0 != .taken && $0 != .fresh } ?? requested.count
        if count == 0, let first = answers.first { try Engine.check(first, doing: action) }
        let taken = requested.indices.prefix(count).map { index -> Answer in
            if states[index] == .fresh { return .fresh }
            var lease = requested[index]
            let end = answers[index].elements?.last?.bytes ?? []
            lease.begin(found: end, tagRemovals: answers[requested.count])
            return .taken(lease)
        }
        // A node of a cluster that has not answered may take them yet.
        let surplus = requested.indices.filter { index in
            states[index] == nil || index > count && states[index] == .taken
        }.map { requested[$0] }
        return .done(Taken(answers: taken, surplus: surplus))
    }

    /// `nil` for a refusal, or an answer of another kind.
    private static func state(in answer: RedisValue) -> LeaseState? {
        guard let parts = answer.elements, parts.count == 2, let number = parts[0].integer else { return nil }
        return LeaseState(rawValue: number)
    }
}

/// Saves a loaded value, unless its lease has ended, or all entries, or those with one of its tags, were removed
/// in the meantime: then the outcome is `nil`.
struct SaveLoaded: EngineCall {
    private enum Stage {
        case saving(Once<SaveUnderLease>)
        case comparing(Once<AskTagRemovals>)
        case removing(Insisting<ChangeSeen<Bool>>)
    }

    private let new: NewEntry
    private let lease: LeaseTerm
    private let clock: EngineClock
    private var stage: Stage
    let action = SaveEntry.saving

    init(_ new: NewEntry, under lease: LeaseTerm, _ clock: EngineClock) {
        self.new = new
        self.lease = lease
        self.clock = clock
        stage = .saving(Once(SaveUnderLease(new: new, lease: lease), in: lease.generation))
    }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<EntryInformation?> {
        switch stage {
        case .saving(var call):
            let step = try call.next(answers, view)
            stage = .saving(call)
            return try step.then { isSaved throws(StoreError) in
                guard isSaved == true else { return .done(nil) }
                if new.information.attributes.tags.isEmpty { return .done(new.information) }
                // Once the entry is there: another node of a cluster may be asked, and would answer too early.
                stage = .comparing(Once(AskTagRemovals(), in: lease.generation))
                return try next([], view)
            }
        case .comparing(var call):
            let step = try call.next(answers, view)
            stage = .comparing(call)
            return try step.then { removals throws(StoreError) in
                guard let removals else { return .done(nil) }
                if removals.bytes == lease.tagRemovals { return .done(new.information) }
                // Perhaps before this entry was there. A lease that another load has by now is younger, and compares for
                // itself: ended, it would have a third one run its producer at the same time.
                stage = .removing(Insisting(try .remove(new.information, clock, endsLease: false)))
                return try next([], view)
            }
        case .removing(var call):
            let step = try call.next(answers, view)
            stage = .removing(call)
            return try step.then { _ throws(StoreError) in .done(nil) }
        }
    }
}

/// The first part of ``SaveLoaded``: whether the entry was saved.
private struct SaveUnderLease: EntryCall {
    let new: NewEntry
    let lease: LeaseTerm
    let action = SaveEntry.saving

    var changes: EntryChanges { EntryChanges(byScripts: [new.key], areReplicated: true) }

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        [lease.saving(new)] + names.removingOlder(new.key, generation)
    }

    func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<Bool> {
        for value in answers { try Engine.check(value, doing: action) }
        return .done(answers[0].integer == 1)
    }
}

/// The value that removals by tag change.
private struct AskTagRemovals: EntryCall {
    let action = SaveEntry.saving

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        [["GET", .text(names.tagRemovals)]]
    }

    func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<RedisValue> {
        try Engine.check(answers[0], doing: action)
        return .done(answers[0])
    }
}

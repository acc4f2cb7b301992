import ArchiveStore
import Foundation
import RedisWire

/// A look at an entry, without its archive.
struct Look {
    let entry: EngineEntry
    /// The last 59 bytes of the server's value; fewer of a shorter one, none if there is none.
    private(set) var end: [UInt8] = []
    /// `nil` if there is nothing, or something else, or a damaged entry.
    private(set) var information: EntryInformation?

    init(at key: StoreKey, _ names: EntryNames, in generation: Generation, _ clock: EngineClock) {
        entry = EngineEntry(key: key, name: names.entry(key.string, generation), clock: clock)
    }

    var commands: [RedisCommand] {
        let name = RedisCommand.Argument.text(entry.name)
        return [["GETRANGE", name, .integer(-EntryFile.largestTailByteCount), -1], ["STRLEN", name]]
    }

    mutating func take(_ answers: [RedisValue], _ action: String) throws(StoreError) {
        do throws(StoreError) {
            try Engine.check(answers[1], doing: action)
            guard let tail = try EngineEntry.bytes(answers[0], action), let length = answers[1].integer else {
                return
            }
            end = [UInt8](tail.suffix(EntryEnd.byteCount))
            information = try? entry.information(ofTail: tail, byteCount: Int(length))
        } catch {
            guard error.code == .foreign else { throw error }
        }
    }

    var script: EntryScript { EntryScript(name: entry.name) }
}

/// Looks at an entry.
struct LookAtEntry: EntryCall {
    let key: StoreKey
    let clock: EngineClock
    let action = EngineEntry.reading
    private var look: Look?

    init(_ key: StoreKey, _ clock: EngineClock) {
        self.key = key
        self.clock = clock
    }

    var outcomeWithoutGeneration: EntryInformation?? { .some(nil) }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        let look = Look(at: key, names, in: generation, clock)
        self.look = look
        return look.commands
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<EntryInformation?> {
        try look?.take(answers, action)
        return .done(look?.information)
    }
}

/// Compares near entries with the engine's by their last 59 bytes.
struct CompareEnds: EntryCall {
    let keys: [StoreKey]
    let action = EngineEntry.reading

    var outcomeWithoutGeneration: [Result<UInt64?, StoreError>]? { keys.map { _ in .success(nil) } }

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        keys.map { ["GETRANGE", .text(names.entry($0.string, generation)), .integer(-EntryEnd.byteCount), -1] }
    }

    /// The outcome has the version of each key's entry, `nil` if there is none that a cache has saved.
    func take(_ answers: [RedisValue]) -> EntryStep<[Result<UInt64?, StoreError>]> {
        .done(answers.map { answer in Result { () throws(StoreError) in try version(answer) } })
    }

    private func version(_ answer: RedisValue) throws(StoreError) -> UInt64? {
        do throws(StoreError) {
            return try EngineEntry.bytes(answer, action).flatMap { EntryIdentity(end: $0)?.version }
        } catch {
            // No cache has saved a value of another kind.
            if error.code == .foreign { return nil }
            throw error
        }
    }
}

// MARK: Conditions

/// Looks at an entry, and then changes it by a script if it is still the one that was seen; otherwise begins again.
struct ChangeSeen<Outcome>: EntryCall {
    /// The action on an entry that was seen.
    enum Decision {
        case change(RedisCommand, Outcome)
        case leave(Outcome)
    }

    let key: StoreKey
    let clock: EngineClock
    let action: String
    /// The outcome where there is no entry; `nil` for a call that makes one.
    let outcomeWithoutGeneration: Outcome?
    private let decide: (Look) throws(StoreError) -> Decision
    private var look: Look?
    private var outcome: Outcome?
    /// Removes the key's entries of older forms.
    private var removingOlder: [RedisCommand] = []

    var changes: EntryChanges {
        outcome == nil ? EntryChanges() : EntryChanges(byScripts: [key], areReplicated: true)
    }

    init(
        _ key: StoreKey,
        _ clock: EngineClock,
        action: String,
        withoutEntry: Outcome? = nil,
        decide: @escaping (Look) throws(StoreError) -> Decision
    ) {
        outcomeWithoutGeneration = withoutEntry
        self.key = key
        self.clock = clock
        self.action = action
        self.decide = decide
    }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        let look = Look(at: key, names, in: generation, clock)
        self.look = look
        outcome = nil
        removingOlder = names.removingOlder(key, generation)
        return look.commands
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<Outcome> {
        if let outcome {
            try Engine.check(answers[0], doing: action)
            // The server does not want to, by its own clock.
            if answers[0].integer == -1, let outcomeWithoutGeneration { return .done(outcomeWithoutGeneration) }
            // Otherwise another client has changed it in the meantime, and maybe only its deadline.
            return answers[0].integer == 1 ? .done(outcome) : .again
        }
        guard var look else { return .again }
        try look.take(answers, action)
        switch try decide(look) {
        case .leave(let outcome): return .done(outcome)
        case .change(let command, let outcome):
            self.outcome = outcome
            return .send([command] + removingOlder)
        }
    }
}

// MARK: Saves

/// Saves an entry without a condition.
struct SaveEntry: EntryCall {
    static let saving = "saving an archive"

    let new: NewEntry
    let action = Self.saving
    /// The commands for a host that allows no scripts.
    private var whole: [RedisCommand] = []

    init(_ new: NewEntry) { self.new = new }

    var changes: EntryChanges { EntryChanges(byScripts: new.parts.isEmpty ? [] : [new.key], areReplicated: true) }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        let name = names.entry(new.key.string, generation)
        let removingParts = RedisCommand(["UNLINK"] + new.parts.map { .text($0) })
        whole = new.parts.isEmpty ? [] : [Self.removing(leaseOf: name), setting(name), removingParts]
        return commands(for: name, names, in: generation)
    }

    /// - Parameter name: the entry's.
    func commands(for name: String, _ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        // A load that takes the lease between the two sees that its entry was replaced.
        let set = new.parts.isEmpty ? setting(name) : EntryScript(name: name).saveParts(of: new)
        return [Self.removing(leaseOf: name), set] + names.removingOlder(new.key, generation)
    }

    private static func removing(leaseOf name: String) -> RedisCommand {
        ["DEL", .text(EntryNames.lease(ofEntry: name))]
    }

    private func setting(_ name: String) -> RedisCommand {
        var words: [RedisCommand.Argument] = ["SET", .text(name), .bytes(new.bytes)]
        if let milliseconds = new.lifetime.milliseconds { words += ["PX", .integer(milliseconds)] }
        return RedisCommand(words)
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<EntryInformation> {
        if !whole.isEmpty, case .error(let refusal) = answers[1], refusal.code == "NOPERM" {
            defer { whole = [] }
            return .send(whole)
        }
        for value in answers { try Engine.check(value, doing: action) }
        try Engine.checkSet(answers[1], doing: action)
        return .done(new.information)
    }
}

extension ChangeSeen<EntryInformation?> {
    /// Saves an entry if a condition holds for the one that is there.
    static func save(
        _ new: NewEntry,
        _ clock: EngineClock,
        if condition: @escaping (EntryInformation?) -> Bool
    ) -> Self {
        ChangeSeen(new.key, clock, action: SaveEntry.saving) { look in
            guard condition(look.information) else { return .leave(nil) }
            return .change(look.script.save(new, ifEnding: look.end), new.information)
        }
    }

    /// Moves the deadline of this very entry.
    ///
    /// - Parameter date: `nil` means never.
    static func moveDeadline(
        of entry: EntryInformation,
        to date: Date?,
        _ clock: EngineClock,
        now: Date
    ) throws(StoreError) -> Self {
        let action = "moving a deadline"
        var attributes = entry.attributes
        attributes.expiresAt = date
        let there = clock.there(attributes)
        let seconds = there.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        if seconds.isNaN {
            throw StoreError(.invalidArgument, action: action, reason: "a date is not a number")
        }
        let lifetime = Lifetime(attributes, now: now)
        return ChangeSeen(try StoreKey(entry.key), clock, action: action, withoutEntry: .some(nil)) { look in
            guard let found = look.information, found.identity == entry.identity,
                let identity = EntryIdentity(there)
            else { return .leave(nil) }
            let end = EntryEnd.moving(deadlineTo: seconds, of: look.end)
            let moved = EntryInformation(
                key: found.key,
                attributes: attributes,
                archiveByteCount: found.archiveByteCount,
                storedByteCount: found.storedByteCount,
                identity: identity
            )
            return .change(look.script.replaceEnd(look.end, by: end, lifetime), moved)
        }
    }
}

// MARK: Removals

/// Removes the entries of keys, of any kind, and ends the keys' leases.
struct RemoveKeys: EntryCall {
    static let removing = "removing an entry"

    let keys: [StoreKey]
    let action: String
    let changes: EntryChanges

    /// - Parameter isReplicated: whether replicas are waited for, if they are for other changes.
    init(_ keys: [StoreKey], action: String = Self.removing, isReplicated: Bool = true) {
        self.keys = keys
        self.action = action
        changes = EntryChanges(byScripts: keys, areReplicated: isReplicated)
    }

    var outcomeWithoutGeneration: [Bool]? { keys.map { _ in false } }

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        keys.map { EntryScript(name: names.entry($0.string, generation)).remove() }
            + keys.flatMap { names.removingOlder($0, generation) }
    }

    /// The outcome says for each key whether it had an entry.
    func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<[Bool]> {
        for value in answers { try Engine.check(value, doing: action) }
        return .done(answers.prefix(keys.count).map { $0.integer == 1 })
    }
}

extension ChangeSeen<Bool> {
    /// Removes this very entry.
    ///
    /// - Parameters:
    ///   - endsLease: whether the entry was of use: see ``EntryScript/remove(ifEnding:endsLease:unlessUsableUntil:)``.
    ///   - onlyIfUseless: whether the entry stays while it is of use by the server's clock.
    static func remove(
        _ entry: EntryInformation,
        _ clock: EngineClock,
        endsLease: Bool,
        onlyIfUseless: Bool = false
    ) throws(StoreError) -> Self {
        ChangeSeen(try StoreKey(entry.key), clock, action: RemoveKeys.removing, withoutEntry: false) { look in
            guard let found = look.information, found.identity == entry.identity else { return .leave(false) }
            let end = onlyIfUseless ? clock.there(found.attributes).usableUntil : nil
            if onlyIfUseless, end == nil { return .leave(false) }
            let script = look.script.remove(ifEnding: look.end, endsLease: endsLease, unlessUsableUntil: end)
            return .change(script, true)
        }
    }
}

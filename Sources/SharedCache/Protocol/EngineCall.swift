import ArchiveStore
import RedisWire

/// A call to the engine as a value without I/O, clock or locks: it says which commands to send, and is given their
/// answers. One caller waits for them in its thread, another one suspends, a test has a made-up engine answer.
protocol EngineCall<Outcome> {
    associatedtype Outcome

    /// The call's part in messages of errors: “reading an entry”.
    var action: String { get }

    /// The next step.
    ///
    /// - Parameters:
    ///   - answers: to the commands of the last step, refusals among them; none at first.
    ///   - view: the process's view of the engine.
    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Outcome>

    /// Takes the error that ends the call: of a step, or of an engine that did not answer.
    func failed(_ error: StoreError, _ view: SharedView)
}

extension EngineCall {
    func failed(_ error: StoreError, _ view: SharedView) {}
}

enum EngineStep<Outcome> {
    /// Commands to send one after another, with no other command in between; never none.
    case send([RedisCommand])
    case done(Outcome)
}

extension EngineStep {
    /// The commands to send, or a step that follows from the outcome.
    func then<Other>(_ body: (Outcome) throws(StoreError) -> EngineStep<Other>) throws(StoreError) -> EngineStep<
        Other
    > {
        switch self {
        case .send(let commands): .send(commands)
        case .done(let outcome): try body(outcome)
        }
    }
}

// MARK: Calls about entries

/// A call about entries of one generation.
protocol EntryCall<Outcome> {
    associatedtype Outcome

    var action: String { get }

    /// The changes of entries by the commands of the last step.
    var changes: EntryChanges { get }

    /// The outcome where the engine has no generation, and so no entries; `nil` for a call that has one begin.
    var outcomeWithoutGeneration: Outcome? { get }

    /// Begins again, and says which commands to send first.
    mutating func begin(_ names: EntryNames, in generation: Generation) throws(StoreError) -> [RedisCommand]

    /// Takes the answers to the last commands, all of which were executed while the generation was current.
    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<Outcome>
}

extension EntryCall {
    var changes: EntryChanges { EntryChanges() }
    var outcomeWithoutGeneration: Outcome? { nil }
}

/// The changes that commands make.
struct EntryChanges {
    /// The keys that scripts change, whose messages come back to this process.
    var byScripts: [StoreKey] = []
    /// Whether replicas are waited for.
    var areReplicated = false

    /// The commands to send, with the commands that follow changes.
    func followed(_ commands: [RedisCommand], _ view: SharedView) -> [RedisCommand] {
        if !byScripts.isEmpty { view.withView { $0.expectEchoes(of: byScripts) } }
        var all = commands
        if areReplicated { all += view.waiting }
        all.append(view.askGeneration)
        return all
    }
}

enum EntryStep<Outcome> {
    case send([RedisCommand])
    case done(Outcome)
    /// Others have changed the entry in the meantime: the call begins again.
    case again
}

extension EntryCall {
    /// Begins the call again; returns its first commands, with the commands that follow changes.
    fileprivate mutating func firstCommands(
        in generation: Generation,
        _ view: SharedView
    ) throws(StoreError) -> [RedisCommand] {
        let commands = try begin(view.names, in: generation)
        return changes.followed(commands, view)
    }

    /// Takes the answers to the last commands and to the commands that followed them.
    ///
    /// - Returns: the next step, whose commands are complete; `.again` also if the generation is not current any longer.
    fileprivate mutating func step(
        after answers: [RedisValue],
        in generation: Generation,
        _ view: SharedView
    ) throws(StoreError) -> EntryStep<Outcome> {
        guard var answers = try view.confirmed(answers, in: generation, action) else { return .again }
        if changes.areReplicated { try view.checkReplicas(&answers, action) }
        let step = try take(answers)
        guard case .send(let commands) = step else { return step }
        return .send(changes.followed(commands, view))
    }
}

/// Makes a call about entries until its generation was the current one after each of its commands.
struct Insisting<Call: EntryCall>: EngineCall {
    private enum Stage {
        case beginning
        case seeking(FindGeneration)
        case calling(Generation)
    }

    private(set) var call: Call
    private var stage = Stage.beginning
    private var attempts = 0

    /// How often a call is made at most.
    static var mostAttempts: Int { 100 }

    init(_ call: Call) { self.call = call }

    var action: String { call.action }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Call.Outcome> {
        switch stage {
        case .beginning: return try begin(view)
        case .seeking(var search):
            let step = try search.next(answers, view)
            stage = .seeking(search)
            switch step {
            case .send(let commands): return .send(commands)
            case .done(let generation): return try begin(view, found: generation)
            }
        case .calling(let generation):
            switch try call.step(after: answers, in: generation, view) {
            case .send(let commands): return .send(commands)
            case .done(let outcome): return .done(outcome)
            case .again: return try begin(view)
            }
        }
    }

    private mutating func begin(_ view: SharedView) throws(StoreError) -> EngineStep<Call.Outcome> {
        attempts += 1
        if attempts > Self.mostAttempts {
            let reason = "others changed it, or removed all entries, \(Self.mostAttempts) times during the call"
            throw StoreError(.unreachable, action: action, reason: reason)
        }
        if let known = view.generation { return try begin(view, in: known) }
        // A server may refuse to begin one, and answer otherwise: then there is nothing to read or to remove.
        var search = FindGeneration(action: action, mayBegin: call.outcomeWithoutGeneration == nil)
        let step = try search.next([], view)
        stage = .seeking(search)
        return try step.then { generation throws(StoreError) in try begin(view, found: generation) }
    }

    private mutating func begin(
        _ view: SharedView,
        found generation: Generation?
    ) throws(StoreError) -> EngineStep<Call.Outcome> {
        if let generation { return try begin(view, in: generation) }
        guard let outcome = call.outcomeWithoutGeneration else {
            throw StoreError(.unreachable, action: action, reason: "\(view.names.generation) was not begun")
        }
        return .done(outcome)
    }

    private mutating func begin(
        _ view: SharedView,
        in generation: Generation
    ) throws(StoreError) -> EngineStep<Call.Outcome> {
        stage = .calling(generation)
        return .send(try call.firstCommands(in: generation, view))
    }
}

/// Makes a call about entries of one generation; its outcome is `nil` if that is not current any longer: then the commands
/// have changed no entry that counts.
struct Once<Call: EntryCall>: EngineCall {
    private var call: Call
    private let generation: Generation
    private var isBegun = false

    init(_ call: Call, in generation: Generation) {
        self.call = call
        self.generation = generation
    }

    var action: String { call.action }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Call.Outcome?> {
        if !isBegun {
            isBegun = true
            return .send(try call.firstCommands(in: generation, view))
        }
        switch try call.step(after: answers, in: generation, view) {
        case .send(let commands): return .send(commands)
        case .done(let outcome): return .done(outcome)
        case .again: return .done(nil)
        }
    }
}

/// Changes a key's entry: if the engine does not acknowledge that, the entry is owed, see ``DebtList``.
struct Owing<Call: EngineCall>: EngineCall {
    private let key: StoreKey
    private var call: Call

    init(_ key: StoreKey, _ call: Call) {
        self.key = key
        self.call = call
    }

    var action: String { call.action }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Call.Outcome> {
        try call.next(answers, view)
    }

    func failed(_ error: StoreError, _ view: SharedView) {
        if error.isUnacknowledged { view.owe([key]) }
    }
}

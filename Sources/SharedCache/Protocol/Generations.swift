import ArchiveStore
import RedisWire

/// Asks for the current generation, and begins the first one if there is none.
struct FindGeneration: EngineCall {
    let action: String
    private let asksAnyway: Bool
    private let mayBegin: Bool
    /// How often a generation was to begin.
    private var attempts = 0
    /// Whether one of them was acknowledged.
    private var wasSet = false

    /// - Parameters:
    ///   - asksAnyway: also if a generation is known, which may not be the current one any longer: no command follows by which
    ///     that would come out.
    ///   - mayBegin: whether one begins if there is none; otherwise the outcome is `nil` then.
    init(action: String, asksAnyway: Bool = false, mayBegin: Bool = true) {
        self.action = action
        self.asksAnyway = asksAnyway
        self.mayBegin = mayBegin
    }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Generation?> {
        guard let present = answers.last else {
            if !asksAnyway, let known = view.generation { return .done(known) }
            return .send([view.askGeneration])
        }
        try Engine.check(present, doing: action)
        if let found = Generation(present) {
            view.withView { $0.learn(found) }
            return .done(found)
        }
        if !mayBegin { return .done(nil) }
        // Bytes that are no generation are another program's. Where there are none, a plain `SET` could replace a generation
        // that another process begins now.
        let isForeign = present.bytes != nil
        if attempts > 0 {
            // `NX` is answered by nothing if there is one by now.
            if answers[0] != .null {
                try Engine.checkSet(answers[0], doing: action)
                wasSet = true
            }
            if attempts == 2 { throw failure(isForeign: isForeign, view.names.generation) }
        }
        attempts += 1
        let new = RedisCommand.Argument.text(Generation.random().description)
        let set: [RedisCommand.Argument] = ["SET", .text(view.names.generation), new]
        return .send([RedisCommand(isForeign ? set : set + ["NX"]), view.askGeneration])
    }

    private func failure(isForeign: Bool, _ name: String) -> StoreError {
        let reason =
            isForeign || !wasSet
            ? "\(name) keeps changing"
            : "\(name) is not there, though it was set just now: another server answers, or removes it"
        return StoreError(.unreachable, action: action, reason: reason)
    }
}

/// Begins a generation, with no entries; if the engine does not acknowledge that, it is owed.
///
/// An engine whose memory is full refuses to set it, and takes removals. The key of the generation is removed then, which
/// ends the former generation as well: without a generation, no reader finds any entry. The new one is set after that by a script
/// that may exceed the memory, for otherwise each fetch would have to set one, and be refused; an engine without such
/// scripts (Redis before 7.0) has no generation until there is room for one.
struct BeginGeneration: EngineCall {
    private enum Stage {
        case beginning
        case setting
        /// The former generation is removed, and the new one set by a script.
        case replacing
    }

    let action: String
    private let new: Generation
    private var stage = Stage.beginning
    /// The number of the last debt when this began.
    private var lastDebt = 0

    private static let setInFullMemory = "#!lua flags=allow-oom\nreturn redis.call('SET',KEYS[1],ARGV[1])"

    init(_ new: Generation = .random(), action: String) {
        self.new = new
        self.action = action
    }

    mutating func next(_ answers: [RedisValue], _ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        let name = RedisCommand.Argument.text(view.names.generation)
        let value = RedisCommand.Argument.text(new.description)
        var isSet = true
        switch stage {
        case .beginning:
            stage = .setting
            lastDebt = view.debts.withList { $0.last }
            return .send([["SET", name, value]] + view.waiting)
        case .setting:
            if case .error(let error) = answers[0], error.code == "OOM" {
                stage = .replacing
                return .send(
                    [["DEL", name], ["EVAL", .text(Self.setInFullMemory), 1, name, value]] + view.waiting
                )
            }
        case .replacing:
            if case .error = answers[1] { isSet = false }
        }
        switch stage {
        case .replacing: try Engine.check(answers[0], doing: action)
        case .beginning, .setting: try Engine.checkSet(answers[0], doing: action)
        }
        var answers = answers
        try view.checkReplicas(&answers, action)
        view.withView { view in
            view.forgetAll()
            if isSet { view.learn(new) }
        }
        view.debts.withList { [lastDebt] in $0.settleAll(upTo: lastDebt) }
        return .done(())
    }

    func failed(_ error: StoreError, _ view: SharedView) {
        view.debts.withList { $0.oweGeneration() }
        view.counters.count { $0.debts += 1 }
    }
}

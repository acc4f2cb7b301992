import ArchiveStore
import RedisWire

/// Asks for the current generation, and begins the first one if there is none.
struct FindGeneration: EngineCall {
    let action: String
    private let asksAnyway: Bool
    /// How often a generation was to begin.
    private var attempts = 0

    /// - Parameter asksAnyway: also if a generation is known, which may not be the current one any more: no command
    ///   follows by which that would come out.
    init(action: String, asksAnyway: Bool = false) {
        self.action = action
        self.asksAnyway = asksAnyway
    }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Generation> {
        guard let present = answers.last else {
            if !asksAnyway, let known = view.generation { return .done(known) }
            return .send([view.askGeneration])
        }
        try Engine.check(present, doing: action)
        if let found = Generation(present) {
            view.withView { $0.learn(found) }
            return .done(found)
        }
        // Bytes that are no generation are another program's. Where there are none, a plain `SET` could replace a generation
        // that another process begins now.
        let isForeign = present.bytes != nil
        if attempts > 0, !isForeign { try Engine.check(answers[0], doing: action) }
        if attempts == 2 {
            throw StoreError(.unreachable, action: action, reason: "\(view.names.generation) keeps changing")
        }
        attempts += 1
        let new = RedisCommand.Argument.text(Generation.random().description)
        let set: [RedisCommand.Argument] = ["SET", .text(view.names.generation), new]
        return .send([RedisCommand(isForeign ? set : set + ["NX"]), view.askGeneration])
    }
}

/// Begins a generation, with no entries; if the engine does not acknowledge that, it is owed.
struct BeginGeneration: EngineCall {
    let action: String
    private let new: Generation
    private var isSent = false

    init(_ new: Generation = .random(), action: String) {
        self.new = new
        self.action = action
    }

    mutating func next(_ answers: [RedisValue], _ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        guard isSent else {
            isSent = true
            return .send([["SET", .text(view.names.generation), .text(new.description)]] + view.waiting)
        }
        try Engine.check(answers[0], doing: action)
        var answers = answers
        try view.checkReplicas(&answers, action)
        view.withView { view in
            view.forgetAll()
            view.learn(new)
            view.debts.settleAll()
        }
        return .done(())
    }

    func failed(_ error: StoreError, _ view: SharedView) {
        view.withView { $0.debts.oweGeneration() }
        view.counters.count { $0.debts += 1 }
    }
}

import ArchiveStore
import RedisWire

/// Asks for the current generation, and begins the first one if there is none.
struct FindGeneration: EngineCall {
    private enum Stage { case beginning, asked, replacing }

    let action: String
    private let asksAnyway: Bool
    private var stage = Stage.beginning

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
        if stage == .beginning {
            if !asksAnyway, let known = view.generation { return .done(known) }
            stage = .asked
            return .send(asking(view, replacing: false))
        }
        try Engine.check(answers[1], doing: action)
        if let found = Generation(answers[1]) {
            view.withView { $0.learn(found) }
            return .done(found)
        }
        if stage == .replacing {
            throw StoreError(.unreachable, action: action, reason: "\(view.names.generation) keeps changing")
        }
        stage = .replacing
        return .send(asking(view, replacing: true))
    }

    /// - Parameter replacing: whether to replace bytes that no cache has written.
    private func asking(_ view: SharedView, replacing: Bool) -> [RedisCommand] {
        let name = RedisCommand.Argument.text(view.names.generation)
        let set: [RedisCommand.Argument] = ["SET", name, .text(Generation.random().description)]
        // Another process may be the first.
        return [RedisCommand(replacing ? set : set + ["NX"]), ["GET", name]]
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

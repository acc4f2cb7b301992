import RedisWire
import Testing

@testable import ArchiveStore
@testable import SharedCache

/// The list of changes that are owed to an engine, without an engine.
@Suite struct DebtListTests {
    private let view = SharedView(
        EngineView(EntryNames(prefix: "tc:test:", cache: "cache", schema: 1), window: .seconds(1))
    )

    private func owe(_ number: Int) throws {
        let key = try StoreKey("\(number)")
        Owing(key, Insisting(RemoveKeys([key]))).failed(
            StoreError(.unreachable, action: "", reason: ""),
            view
        )
    }

    private var isEmpty: Bool { view.debts.isEmpty }

    /// Pays with an engine that has this generation and acknowledges everything; gives the names of all commands.
    private func pay(in generation: Generation, refusing refused: Int? = nil) throws(StoreError) -> [[String]] {
        var call = PayDebts()
        var sent: [[String]] = []
        var answers: [RedisValue] = []
        while case .send(let commands) = try call.next(answers, view) {
            sent.append(commands.map(\.name))
            answers = commands.map { command in
                switch command.name {
                case "GET": .bulk(Array(generation.description.utf8))
                case "SET": .simple("OK")
                default: sent.count == refused ? .error(RedisReplyError(message: "LOADING")) : .integer(1)
                }
            }
        }
        return sent
    }

    @Test func tooManyKeysBecomeANewGeneration() throws {
        for number in 0..<DebtList.mostKeys { try owe(number) }
        let (last, next) = (try StoreKey("\(DebtList.mostKeys - 1)"), try StoreKey("\(DebtList.mostKeys)"))
        #expect(view.isOwed(last) && !view.isOwed(next))
        #expect(view.debts.withList { !$0.owesGeneration })
        try owe(DebtList.mostKeys)
        let other = try StoreKey("anything")
        #expect(view.isOwed(other) && view.debts.withList { $0.owesGeneration })
        #expect(try pay(in: .random()) == [["SET"]])
        #expect(isEmpty && view.generation != nil)
    }

    /// The payment's commands may have been executed before a change that fails while their answers are on their way.
    @Test func aPaymentSettlesNoLaterDebt() throws {
        try owe(1)
        try owe(2)
        let key = try StoreKey("1")
        let generation = Generation.random()
        view.withView { $0.learn(generation) }
        var call = PayDebts()
        _ = try call.next([], view)
        try owe(1)
        let known = RedisValue.bulk(Array(generation.description.utf8))
        guard case .send(let commands) = try call.next([.integer(1), .integer(0), known], view) else {
            Issue.record("Nothing more is paid.")
            return
        }
        #expect(commands.count == 2 && view.isOwed(key))
        _ = try call.next([.integer(1), known], view)
        #expect(isEmpty)

        var removal = BeginGeneration(action: "")
        try owe(2)
        _ = try removal.next([], view)
        try owe(1)
        _ = try removal.next([.simple("OK")], view)
        #expect(view.isOwed(key) && view.debts.withList { $0.count } == 1)
    }

    @Test func keysArePaidInPartsAndTheRestStaysOwed() throws {
        for number in 0..<600 { try owe(number) }
        let generation = Generation.random()
        // The generation is asked for, then 256 keys, then 256 more, which are refused, then the rest.
        #expect(throws: StoreError.self) { try pay(in: generation, refusing: 3) }
        #expect(view.debts.withList { $0.count } == 256)
        #expect(try pay(in: generation).map(\.count) == [257])
        #expect(isEmpty)
    }

    /// Gives the call the server's answers.
    ///
    /// - Returns: the generation that it finds, and for each `SET` whether it keeps a value that is there.
    private func findsGeneration(
        _ answers: [RedisValue]...
    ) throws(StoreError) -> (found: Generation?, keeps: [Bool]) {
        var call = FindGeneration(action: "", asksAnyway: true)
        var keeps: [Bool] = []
        var answers = answers[...]
        var step = try call.next([], view)
        while case .send(let commands) = step {
            if commands[0].name == "SET" { keeps.append(commands[0].arguments.last == "NX") }
            guard let next = answers.popFirst() else { return (nil, keeps) }
            step = try call.next(next, view)
        }
        guard case .done(let found) = step else { return (nil, keeps) }
        return (found, keeps)
    }

    /// A plain `SET` could replace a generation that another process has begun in the meantime, and take its entries
    /// along.
    @Test func noGenerationIsReplacedButBytesOfOthers() throws {
        let refused: [RedisValue] = [.error(RedisReplyError(message: "OOM command not allowed")), .null]
        let error = #expect(throws: StoreError.self) { try findsGeneration([.null], refused) }
        #expect(error?.code == .io && error?.reason.contains("OOM") == true)
        // One that went between the two commands.
        let gone = try findsGeneration([.null], [.null, .null])
        #expect(gone.found == nil && gone.keeps == [true, true])
        let foreign = try findsGeneration([.null], [.null, .bulk(Array("else".utf8))])
        #expect(foreign.keeps == [true, false])
        let new = Generation.random()
        let found = try findsGeneration(
            [.null],
            [.null, .null],
            [.simple("OK"), .bulk(Array(new.description.utf8))]
        )
        #expect(found.found == new)
        #expect(try findsGeneration([.bulk(Array(new.description.utf8))]).keeps.isEmpty)
    }

    @Test func aRefusalIsNoDebt() throws {
        let key = try StoreKey("key")
        Owing(key, Insisting(RemoveKeys([key]))).failed(
            StoreError(.io, action: "", reason: ""),
            view
        )
        #expect(isEmpty)
    }
}

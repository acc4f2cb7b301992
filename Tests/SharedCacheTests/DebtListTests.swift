import RedisWire
import Testing

@testable import ArchiveStore
@testable import SharedCache

/// What is owed to an engine, without one.
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

    private var isEmpty: Bool { view.withView { $0.debts.isEmpty } }

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
        #expect(view.withView { !$0.debts.owesGeneration })
        try owe(DebtList.mostKeys)
        let other = try StoreKey("anything")
        #expect(view.isOwed(other) && view.withView { $0.debts.owesGeneration })
        #expect(try pay(in: .random()) == [["SET"]])
        #expect(isEmpty && view.generation != nil)
    }

    @Test func keysArePaidInPartsAndTheRestStaysOwed() throws {
        for number in 0..<600 { try owe(number) }
        let generation = Generation.random()
        // The generation is asked for, then 256 keys, then 256 more, which are refused, then the rest.
        #expect(throws: StoreError.self) { try pay(in: generation, refusing: 3) }
        #expect(view.withView { $0.debts.count } == 256)
        #expect(try pay(in: generation).map(\.count) == [257])
        #expect(isEmpty)
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

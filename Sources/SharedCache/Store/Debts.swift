import ArchiveStore
import Synchronization

/// The keys of saves and removals that the engine did not acknowledge: their entries must be removed before anything
/// may be read for them, or an old entry could be taken for the new one.
///
/// Only the removal is repeated, never the save, which could take the place of a newer one.
final class Debts: Sendable {
    enum Owed {
        case keys([StoreKey])
        /// All entries.
        case generation
    }

    private struct State {
        var keys: [[UInt8]: StoreKey] = [:]
        var owesGeneration = false

        var isEmpty: Bool { keys.isEmpty && !owesGeneration }
    }

    /// Above so many keys, all entries are owed instead.
    static let mostKeys = 10_000

    private let state = Mutex(State())
    /// Held while debts are paid, and while an owed key is changed: otherwise a removal could come after the save that
    /// made it needless.
    private let payment = Mutex<Void>(())
    private let hasAny = Atomic<Bool>(false)

    /// Whether nothing may be read for a key.
    func isOwed(_ key: StoreKey) -> Bool {
        guard hasAny.load(ordering: .acquiring) else { return false }
        return state.withLock { $0.owesGeneration || $0.keys[key.bytes] != nil }
    }

    var isEmpty: Bool { !hasAny.load(ordering: .acquiring) }
    var owesGeneration: Bool { !isEmpty && state.withLock { $0.owesGeneration } }
    var count: Int { state.withLock { $0.owesGeneration ? Self.mostKeys : $0.keys.count } }

    /// Has `body` change a key's entry: a success settles its debt, a failure to reach the engine makes one.
    func owing<Result>(_ key: StoreKey, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) {
            if isEmpty { return try body() }
            return try payment.withLock { _ throws(StoreError) in
                let result = try body()
                change { $0.keys[key.bytes] = nil }
                return result
            }
        } catch {
            if error.code == .unreachable { owe(key) }
            throw error
        }
    }

    func owe(_ key: StoreKey) {
        change { state in
            if state.keys.count >= Self.mostKeys { state = State(owesGeneration: true) }
            if !state.owesGeneration { state.keys[key.bytes] = key }
        }
    }

    func oweGeneration() { change { $0 = State(owesGeneration: true) } }

    func settleAll() { change { $0 = State() } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            hasAny.store(!state.isEmpty, ordering: .releasing)
        }
    }

    /// Has `body` pay all that is owed, some hundred keys at a time.
    ///
    /// - Throws: the error of `body`: the rest is still owed.
    func pay(_ body: (Owed) throws(StoreError) -> Void) throws(StoreError) {
        try payment.withLock { _ throws(StoreError) in
            while !isEmpty {
                let (owed, keys) = state.withLock { state in
                    let keys = state.keys.values.prefix(256).map { $0 }
                    return (state.owesGeneration ? Owed.generation : .keys(keys), keys)
                }
                try body(owed)
                change { state in
                    if case .generation = owed { state = State() }
                    for key in keys { state.keys[key.bytes] = nil }
                }
            }
        }
    }
}

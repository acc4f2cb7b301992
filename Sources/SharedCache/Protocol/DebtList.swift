import ArchiveStore
import RedisWire
import Synchronization

/// The keys of saves and removals that the engine did not acknowledge: their entries must be removed before anything
/// may be read for them, or an old entry could be taken for the new one. A value without I/O, clock or locks.
///
/// Only the removal is repeated, never the save, which could take the place of a newer one.
struct DebtList: Sendable {
    /// Above so many keys, all entries are owed instead.
    static let mostKeys = 10_000

    private struct Debt {
        let key: StoreKey
        let number: Int
    }

    private var keys: [[UInt8]: Debt] = [:]
    /// The number of the debt of a generation.
    private var generation: Int?
    /// The number of the last change that became a debt. A payment settles no later ones: the server may have executed it before
    /// their changes were begun.
    private(set) var last = 0

    var owesGeneration: Bool { generation != nil }
    var isEmpty: Bool { keys.isEmpty && !owesGeneration }
    var count: Int { owesGeneration ? Self.mostKeys : keys.count }

    /// Whether nothing may be read for a key.
    func isOwed(_ key: StoreKey) -> Bool { !isEmpty && (owesGeneration || keys[key.bytes] != nil) }

    mutating func owe(_ key: StoreKey) {
        if keys.count >= Self.mostKeys { return oweGeneration() }
        last += 1
        keys[key.bytes] = Debt(key: key, number: last)
    }

    mutating func oweGeneration() {
        last += 1
        keys = [:]
        generation = last
    }

    /// Settles the debts of keys.
    ///
    /// - Parameter last: the number of the last debt when the payment began.
    mutating func settle(_ paid: [StoreKey], upTo last: Int) {
        for key in paid {
            if let debt = keys[key.bytes], debt.number <= last { keys[key.bytes] = nil }
        }
    }

    /// As ``settle(_:upTo:)``, for all debts.
    mutating func settleAll(upTo last: Int) {
        keys = keys.filter { $0.value.number > last }
        if let number = generation, number <= last { generation = nil }
    }

    /// Some of the keys that are owed, to be paid at once.
    ///
    /// - Parameter others: the bytes of keys that are left out.
    func next(except others: Set<[UInt8]>) -> [StoreKey] {
        Array(keys.lazy.filter { !others.contains($0.key) }.map(\.value.key).prefix(256))
    }
}

/// The debts for the entries of one cache and schema. All stores of a tier for these entries have the same, also one that is
/// opened after the store that owes them was closed.
final class SharedDebts: Sendable {
    /// Held while debts are paid, and while a key is changed that may be owed: otherwise the payment could remove the
    /// save that follows it.
    let payment = Mutex<Void>(())
    private let list = Mutex(DebtList())

    func withList<Result>(_ body: (inout sending DebtList) -> sending Result) -> sending Result {
        list.withLock(body)
    }

    var isEmpty: Bool { withList { $0.isEmpty } }
}

/// Has the engine remove the entries of keys that are owed. A node of a cluster that does not answer leaves its keys
/// unpaid, and the debts of other nodes are paid all the same.
struct PayKeys: EngineCall {
    static let paying = "removing entries whose change failed"

    let action = Self.paying
    private let keys: [StoreKey]
    private let mayLeaveSome: Bool
    /// The number of the last debt when the payment began.
    private var last: Int?
    private var call: Insisting<RemoveOwed>
    private(set) var unpaid: [StoreKey] = []
    /// Why keys are unpaid.
    private(set) var failure: StoreError?

    /// - Parameter mayLeaveSome: whether unpaid keys are not an error.
    init(_ keys: [StoreKey], mayLeaveSome: Bool = false) {
        self.keys = keys
        self.mayLeaveSome = mayLeaveSome
        call = Insisting(RemoveOwed(RemoveKeys(keys, action: Self.paying, isReplicated: false)))
    }

    mutating func next(_ answers: [RedisValue], _ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        let last = last ?? view.debts.withList { $0.last }
        self.last = last
        return try call.next(answers, view).then { failures throws(StoreError) in
            var paid: [StoreKey] = []
            for (key, failure) in zip(keys, failures) {
                if let failure {
                    unpaid.append(key)
                    self.failure = failure
                } else {
                    paid.append(key)
                }
            }
            view.debts.withList { $0.settle(paid, upTo: last) }
            if let failure, !mayLeaveSome { throw failure }
            return .done(())
        }
    }
}

/// Removes entries as far as the engine answers.
private struct RemoveOwed: EntryCall {
    private let removal: RemoveKeys

    init(_ removal: RemoveKeys) { self.removal = removal }

    var action: String { removal.action }
    var changes: EntryChanges { removal.changes }
    var outcomeWithoutGeneration: [StoreError?]? { removal.keys.map { _ in nil } }

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        removal.begin(names, in: generation)
    }

    /// The outcome has for each key the reason why it is owed still; `nil` for one that is paid.
    func take(_ answers: [RedisValue]) -> EntryStep<[StoreError?]> {
        let count = removal.keys.count
        // After them are those to the removals of older forms, as many for each key.
        let olderCount = (answers.count - count) / max(count, 1)
        return .done(
            (0..<count).map { index in
                let older = count + index * olderCount
                return failure([answers[index]] + answers[older..<older + olderCount])
            }
        )
    }

    private func failure(_ answers: [RedisValue]) -> StoreError? {
        do throws(StoreError) {
            for answer in answers { try Engine.check(answer, doing: action) }
            return nil
        } catch {
            return error
        }
    }
}

/// Has the engine remove the entries whose save or removal it did not acknowledge, some hundred keys at a time, until
/// none is owed. After an error, the rest is still owed.
struct PayDebts: EngineCall {
    private enum Payment {
        case none
        case generation(BeginGeneration)
        case keys(PayKeys)
    }

    let action = PayKeys.paying
    private var payment = Payment.none
    private var unpaid: Set<[UInt8]> = []
    private var failure: StoreError?

    mutating func next(_ answers: [RedisValue], _ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        switch payment {
        case .none: return try begin(view)
        case .generation(var call):
            let step = try call.next(answers, view)
            payment = .generation(call)
            return try step.then { _ throws(StoreError) in try begin(view) }
        case .keys(var call):
            let step = try call.next(answers, view)
            payment = .keys(call)
            return try step.then { _ throws(StoreError) in
                unpaid.formUnion(call.unpaid.map(\.bytes))
                failure = call.failure ?? failure
                return try begin(view)
            }
        }
    }

    private mutating func begin(_ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        let unpaid = unpaid
        let (owesGeneration, keys) = view.debts.withList { ($0.owesGeneration, $0.next(except: unpaid)) }
        if owesGeneration {
            payment = .generation(BeginGeneration(action: action))
        } else if !keys.isEmpty {
            payment = .keys(PayKeys(keys, mayLeaveSome: true))
        } else if let failure {
            throw failure
        } else {
            return .done(())
        }
        return try next([], view)
    }
}

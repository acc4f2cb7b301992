import ArchiveStore
import RedisWire

/// The keys of saves and removals that the engine did not acknowledge: their entries must be removed before anything
/// may be read for them, or an old entry could be taken for the new one. A value without I/O, clock or locks.
///
/// Only the removal is repeated, never the save, which could take the place of a newer one.
struct DebtList: Sendable {
    /// Above so many keys, all entries are owed instead.
    static let mostKeys = 10_000

    private var keys: [[UInt8]: StoreKey] = [:]
    private(set) var owesGeneration = false

    var isEmpty: Bool { keys.isEmpty && !owesGeneration }
    var count: Int { owesGeneration ? Self.mostKeys : keys.count }

    /// Whether nothing may be read for a key.
    func isOwed(_ key: StoreKey) -> Bool { !isEmpty && (owesGeneration || keys[key.bytes] != nil) }

    mutating func owe(_ key: StoreKey) {
        if keys.count >= Self.mostKeys { oweGeneration() }
        if !owesGeneration { keys[key.bytes] = key }
    }

    mutating func oweGeneration() { self = DebtList(owesGeneration: true) }

    mutating func settle(_ paid: [StoreKey]) {
        for key in paid { keys[key.bytes] = nil }
    }

    mutating func settleAll() { self = DebtList() }

    /// Some of the keys that are owed, to be paid at once.
    var next: [StoreKey] { keys.values.prefix(256).map { $0 } }
}

extension DebtList {
    private init(owesGeneration: Bool) { self.owesGeneration = owesGeneration }
}

/// Has the engine remove the entries of keys that are owed.
struct PayKeys: EngineCall {
    static let paying = "removing entries whose change failed"

    let action = Self.paying
    private var call: Insisting<RemoveKeys>

    init(_ keys: [StoreKey]) { call = Insisting(RemoveKeys(keys, action: Self.paying, isReplicated: false)) }

    mutating func next(_ answers: [RedisValue], _ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        try call.next(answers, view).then { _ throws(StoreError) in
            view.withView { $0.debts.settle(call.call.keys) }
            return .done(())
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
            return try step.then { _ throws(StoreError) in try begin(view) }
        }
    }

    private mutating func begin(_ view: SharedView) throws(StoreError) -> EngineStep<Void> {
        let (owesGeneration, keys) = view.withView { ($0.debts.owesGeneration, $0.debts.next) }
        if owesGeneration {
            payment = .generation(BeginGeneration(action: action))
        } else if !keys.isEmpty {
            payment = .keys(PayKeys(keys))
        } else {
            return .done(())
        }
        return try next([], view)
    }
}

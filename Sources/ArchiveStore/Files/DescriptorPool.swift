import Synchronization

/// A store that can give its descriptors back until it is used again.
protocol DescriptorHolder: AnyObject, Sendable {
    /// About how many descriptors it has while it is open.
    var descriptorCount: Int { get }

    /// Whether it was used since the last call of this.
    func takeUse() -> Bool

    /// Closes the open log or directory, unless a call uses it; returns whether it is closed.
    func suspend() -> Bool
}

/// The stores of a process that have their directories open. They have half of the process's descriptors at most, see
/// ``DescriptorLimit``.
///
/// When another store is opened and the share is taken, one that was not used lately is suspended. Its next call opens
/// it again, which takes as long as opening a store does.
final class DescriptorPool: Sendable {
    fileprivate struct State {
        /// In the order in which the hand passes them.
        var holders: [any DescriptorHolder] = []
        var hand = 0
        var descriptorCount = 0
    }

    private let limit: Int
    private let state = RankedMutex(State(), rank: LockRank("stores: open descriptors", number: 195))

    /// The pool of this process. `nil` in a forked process, where the lock may be another thread's for ever: stores stay
    /// open there.
    static var shared: DescriptorPool? { StoreUsage.processGeneration == 0 ? process : nil }

    private static let process = DescriptorPool(limit: DescriptorLimit.stores)

    /// - Parameter limit: How many descriptors the stores may have together. Stores that are in use stay open beyond it.
    init(limit: Int) { self.limit = limit }

    /// About how many descriptors the stores have.
    var descriptorCount: Int { state.withLock { $0.descriptorCount } }

    /// Adds a store that was opened, and suspends other stores if the limit is exceeded.
    func add(_ holder: any DescriptorHolder) {
        state.withLock { state in
            state.holders.append(holder)
            state.descriptorCount += holder.descriptorCount
        }
        suspendUnused(until: limit, but: holder)
    }

    /// Takes a store out that has nothing open any longer, if it is there.
    func remove(_ holder: any DescriptorHolder) {
        // Its last reference may go with this, so not under the lock.
        let former = state.withLock { state -> (any DescriptorHolder)? in
            guard let index = state.holders.firstIndex(where: { $0 === holder }) else { return nil }
            if index < state.hand { state.hand -= 1 }
            state.descriptorCount -= holder.descriptorCount
            return state.holders.remove(at: index)
        }
        _ = consume former
    }

    /// Suspends one store, even below the limit; returns `false` if all are in use.
    func suspendOne() -> Bool { suspendUnused(until: descriptorCount - 1, but: nil) }

    /// Suspends stores until they have no more than `goal` descriptors. Returns whether one was.
    @discardableResult
    private func suspendUnused(until goal: Int, but exempt: (any DescriptorHolder)?) -> Bool {
        var isAnySuspended = false
        // Each is passed twice at most: the first time, it may have been used since the last round.
        var steps = 2 * state.withLock { $0.holders.count }
        while let holder = state.withLock({ $0.nextUnused(above: goal, but: exempt, &steps) }) {
            guard holder.suspend() else { continue }
            remove(holder)
            isAnySuspended = true
        }
        return isAnySuspended
    }
}

extension DescriptorPool.State {
    /// The next store that was not used since the hand passed it; `nil` if no more than `goal` descriptors are taken, or
    /// no steps are left.
    fileprivate mutating func nextUnused(
        above goal: Int,
        but exempt: (any DescriptorHolder)?,
        _ steps: inout Int
    ) -> (any DescriptorHolder)? {
        while descriptorCount > goal, steps > 0, !holders.isEmpty {
            steps -= 1
            if hand >= holders.count { hand = 0 }
            let holder = holders[hand]
            hand += 1
            if holder !== exempt, !holder.takeUse() { return holder }
        }
        return nil
    }
}

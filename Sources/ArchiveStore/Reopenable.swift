import Foundation
import Synchronization

enum Reopening {
    /// How often a call begins again where the folder is emptied while it runs, before it fails.
    static let mostAttempts = 16
}

/// The one thing that a store has open at its path, such as a log: reopened when it is gone from there, closed for as
/// long as no call uses it where descriptors are short, and given to no caller once the store is closed.
final class Reopenable<Handle: AnyObject & Sendable>: DescriptorHolder {
    /// `nil` while it is suspended, and once the store is closed.
    private let opened: RankedMutex<Handle?>
    private let usage = StoreUsage()
    private let wasUsed = Atomic<Bool>(true)
    /// Handles that are being opened, or closed by ``suspend()``: closing the store waits for them.
    private let changeCount = Atomic<Int>(0)
    private let pool: DescriptorPool?
    let descriptorCount: Int
    private let open: @Sendable (_ create: Bool) throws(StoreError) -> Handle
    private let finish: @Sendable (Handle) -> Void
    private let willSuspend: @Sendable (Handle) -> Void

    /// Opens the handle.
    ///
    /// - Parameters:
    ///   - create: whether it is made if it is missing.
    ///   - pool: the pool that may suspend it; `nil`: it stays open.
    ///   - descriptorCount: about how many descriptors an open handle has.
    ///   - rank: the place of the handle's lock among the store's, no other one of which is taken under it.
    ///   - finish: runs before the store is closed.
    ///   - willSuspend: runs before the handle is suspended, and while no call uses it.
    ///   - open: opens the handle, also after it was suspended.
    init(
        create: Bool,
        pool: DescriptorPool?,
        descriptorCount: Int,
        rank: @autoclosure () -> LockRank,
        finish: @escaping @Sendable (Handle) -> Void,
        willSuspend: @escaping @Sendable (Handle) -> Void,
        _ open: @escaping @Sendable (_ create: Bool) throws(StoreError) -> Handle
    ) throws(StoreError) {
        self.pool = pool
        self.descriptorCount = descriptorCount
        self.finish = finish
        self.willSuspend = willSuspend
        let open: @Sendable (Bool) throws(StoreError) -> Handle = { create throws(StoreError) in
            try Self.open(create: create, pool, open)
        }
        self.open = open
        opened = RankedMutex(try open(create), rank: rank())
        pool?.add(self)
    }

    /// Opens the handle, and once more where its files were removed in the middle of that, or another store has to give
    /// its descriptors back first.
    private static func open(
        create: Bool,
        _ pool: DescriptorPool?,
        _ open: (_ create: Bool) throws(StoreError) -> Handle
    ) throws(StoreError) -> Handle {
        var attempts = 0
        var suspensions = 0
        while true {
            do throws(StoreError) {
                return try open(create)
            } catch {
                if error.isOutOfDescriptors, suspensions < mostSuspensions, let pool, pool.suspendOne() {
                    suspensions += 1
                    continue
                }
                attempts += 1
                guard create, error.isMissingFile, attempts < Reopening.mostAttempts else { throw error }
            }
        }
    }

    /// Other threads may take the descriptors that a suspended store has given back, so one is not always enough.
    private static var mostSuspensions: Int { 64 }

    /// Whether the store is open, in the process that opened it.
    var isUsable: Bool { usage.isUsable }

    /// The handle, also in a forked process; `nil` while it is suspended, and once the store is closed.
    var handle: Handle? { opened.withLock { $0 } }

    /// The handle, which is opened again if it was suspended.
    ///
    /// - Parameter create: whether it is made if it is missing then.
    /// - Throws: `.closed` and `.forked`, and if it was suspended the errors of opening it.
    @inline(__always)
    func current(create: Bool = false) throws(StoreError) -> Handle {
        try usage.check()
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .relaxed) }
        if let handle { return handle }
        return try resumed(create: create)
    }

    /// As ``current(create:)``; `nil` if it was suspended, and is gone from the store's path.
    @inline(__always)
    func currentIfPresent() throws(StoreError) -> Handle? {
        do throws(StoreError) {
            return try current()
        } catch {
            if error.isMissingFile { return nil }
            throw error
        }
    }

    private func resumed(create: Bool) throws(StoreError) -> Handle {
        try change { () throws(StoreError) in
            let fresh = try open(create)
            let (handle, isFirst) = try opened.withLock { opened throws(StoreError) -> (Handle, Bool) in
                // Another caller was first.
                if let opened { return (opened, false) }
                try usage.check()
                opened = fresh
                return (fresh, true)
            }
            if isFirst { pool?.add(self) }
            return handle
        }
    }

    /// Opens the handle again, unless another caller has done so since `stale` was the current one.
    ///
    /// - Parameter onLoss: is told that the former entries are gone, also if there is nothing to open.
    func reopen(_ stale: Handle, create: Bool, onLoss: () -> Void) throws(StoreError) {
        if try current(create: create) !== stale { return }
        defer { onLoss() }
        try change { () throws(StoreError) in
            let fresh = try open(create)
            let former = opened.withLock { opened in
                defer { if opened === stale { opened = fresh } }
                return opened
            }
            _ = consume former
        }
    }

    /// As ``reopen(_:create:onLoss:)`` without making anything; returns whether there was something to open.
    func reopenIfPresent(_ stale: Handle, onLoss: () -> Void) throws(StoreError) -> Bool {
        do throws(StoreError) {
            try reopen(stale, create: false, onLoss: onLoss)
            return true
        } catch {
            if error.isMissingFile { return false }
            throw error
        }
    }

    /// Runs `body` with the handle, and again with one that is reopened, and made if it is missing, when `body`
    /// finds that its own is gone.
    func withHandle<Result>(
        onLoss: () -> Void,
        isGone: (StoreError) -> Bool,
        _ body: (Handle) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var attempts = 0
        while true {
            let handle = try current(create: true)
            // Closing the store waits until the last reference is released.
            defer { withExtendedLifetime(handle) {} }
            do throws(StoreError) {
                return try body(handle)
            } catch {
                attempts += 1
                guard isGone(error), attempts < Reopening.mostAttempts else { throw error }
            }
            try reopen(handle, create: true, onLoss: onLoss)
        }
    }

    /// Runs `body` while closing the store waits.
    private func change<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        changeCount.add(1, ordering: .sequentiallyConsistent)
        defer { changeCount.subtract(1, ordering: .sequentiallyConsistent) }
        return try body()
    }

    // MARK: Descriptors

    /// Implementation of ``DescriptorHolder``.
    func takeUse() -> Bool { wasUsed.exchange(false, ordering: .relaxed) }

    /// Implementation of ``DescriptorHolder``: a call that comes while this closes the former handle opens another one, as
    /// another process would.
    func suspend() -> Bool {
        changeCount.add(1, ordering: .sequentiallyConsistent)
        defer { changeCount.subtract(1, ordering: .sequentiallyConsistent) }
        var isInUse = false
        let former = opened.withLock { opened -> Handle? in
            guard opened != nil else { return nil }
            // Callers get their references under this lock.
            isInUse = !isKnownUniquelyReferenced(&opened)
            return isInUse ? nil : opened.take()
        }
        if let former { willSuspend(former) }
        return !isInUse
    }

    // MARK: Closing

    /// Closes the store, and waits until no call uses it; a second time, does nothing.
    ///
    /// - Parameter finishUpkeep: waits for the store's work in the background, which finds the handle still open.
    /// - Throws: `.forked`.
    func close(after finishUpkeep: () -> Void) throws(StoreError) {
        guard try usage.close() else { return }
        finishUpkeep()
        if var handle = opened.withLock({ $0.take() }) {
            finish(handle)
            while !isKnownUniquelyReferenced(&handle) { usleep(100) }
        }
        while changeCount.load(ordering: .sequentiallyConsistent) > 0 { usleep(100) }
        pool?.remove(self)
    }

    /// Closes the store when its last reference goes, so that no call uses it.
    func abandon() {
        guard isUsable else { return }
        pool?.remove(self)
        if let handle { finish(handle) }
    }
}

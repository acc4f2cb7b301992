import Foundation

/// The one thing that a store has open at its path, such as a log: opened anew when it is gone from there, and given to
/// no caller once the store is closed.
struct Reopenable<Handle: AnyObject & Sendable>: ~Copyable, Sendable {
    private let opened: RankedMutex<Handle?>
    private let usage = StoreUsage()
    private let open: @Sendable (_ create: Bool) throws(StoreError) -> Handle

    /// Opens the handle.
    ///
    /// - Parameters:
    ///   - create: whether it is made if it is missing.
    ///   - rank: the place of the handle's lock among the store's, no other one of which is taken under it.
    init(
        create: Bool,
        rank: @autoclosure () -> LockRank,
        _ open: @escaping @Sendable (_ create: Bool) throws(StoreError) -> Handle
    ) throws(StoreError) {
        let open: @Sendable (Bool) throws(StoreError) -> Handle = { create throws(StoreError) in
            try Self.open(create: create, open)
        }
        opened = RankedMutex(try open(create), rank: rank())
        self.open = open
    }

    /// Opens the handle, and makes it once more where its files were removed in the middle of that.
    private static func open(
        create: Bool,
        _ open: (_ create: Bool) throws(StoreError) -> Handle
    ) throws(StoreError) -> Handle {
        var attempts = 0
        while true {
            do throws(StoreError) {
                return try open(create)
            } catch {
                attempts += 1
                guard create, error.isMissingFile, attempts < mostAttempts else { throw error }
            }
        }
    }

    private static var mostAttempts: Int { 3 }

    /// Whether the store is open, in the process that opened it.
    var isUsable: Bool { usage.isUsable }

    /// The handle, also in a forked process; `nil` once the store is closed.
    var handle: Handle? { opened.withLock { $0 } }

    /// The handle.
    ///
    /// - Throws: `.closed` and `.forked`.
    func current() throws(StoreError) -> Handle {
        try usage.check()
        guard let handle else { throw usage.failure }
        return handle
    }

    /// Opens the handle anew, unless another caller has done so since `stale` was the current one.
    ///
    /// - Parameter onLoss: is told that the former entries are gone, also if there is nothing to open.
    func reopen(_ stale: Handle, create: Bool, onLoss: () -> Void) throws(StoreError) {
        if try current() !== stale { return }
        defer { onLoss() }
        let fresh = try open(create)
        let former = opened.withLock { opened in
            defer { if opened === stale { opened = fresh } }
            return opened
        }
        _ = consume former
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

    /// Runs `body` with the handle, and again with one that is opened anew, and made if it is missing, when `body`
    /// finds that its own is gone.
    ///
    /// - Parameter mostAttempts: how often `body` is run before its failure is thrown.
    func withHandle<Result>(
        mostAttempts: Int,
        onLoss: () -> Void,
        isGone: (StoreError) -> Bool,
        _ body: (Handle) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var attempts = 0
        while true {
            let handle = try current()
            // Closing the store waits until the last reference is released.
            defer { withExtendedLifetime(handle) {} }
            do throws(StoreError) {
                return try body(handle)
            } catch {
                attempts += 1
                guard isGone(error), attempts < mostAttempts else { throw error }
            }
            try reopen(handle, create: true, onLoss: onLoss)
        }
    }

    /// Closes the store: runs `finish` with the handle, and waits until no call uses it; a second time, does nothing.
    ///
    /// - Parameter finishUpkeep: waits for the store's work in the background, which finds the handle still open.
    /// - Throws: `.forked`.
    func close(after finishUpkeep: () -> Void, finish: (Handle) -> Void) throws(StoreError) {
        guard try usage.close() else { return }
        finishUpkeep()
        guard var handle = opened.withLock({ $0.take() }) else { return }
        finish(handle)
        while !isKnownUniquelyReferenced(&handle) { usleep(100) }
    }
}

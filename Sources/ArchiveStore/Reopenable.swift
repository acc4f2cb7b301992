import Dispatch
import Foundation
import Synchronization

/// The one thing that a store has open at its path, such as a log: opened anew when it is gone from there, and given to
/// no caller once the store is closed.
struct Reopenable<Handle: AnyObject & Sendable>: ~Copyable, Sendable {
    private let opened: Mutex<Handle?>
    private let usage = StoreUsage()
    private let open: @Sendable (_ create: Bool) throws(StoreError) -> Handle

    /// Opens the handle.
    ///
    /// - Parameter create: whether it is made if it is missing.
    init(create: Bool, _ open: @escaping @Sendable (_ create: Bool) throws(StoreError) -> Handle) throws(StoreError)
    {
        opened = Mutex(try open(create))
        self.open = open
    }

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
    func changing<Result>(
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
    /// - Parameter upkeep: the store's queue, of which all work is done first.
    /// - Throws: `.forked`.
    func close(after upkeep: DispatchQueue, _ finish: (Handle) -> Void) throws(StoreError) {
        guard try usage.close() else { return }
        upkeep.sync {}
        guard var handle = opened.withLock({ $0.take() }) else { return }
        finish(handle)
        while !isKnownUniquelyReferenced(&handle) { usleep(100) }
    }
}

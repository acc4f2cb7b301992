import ArchiveStore
import Foundation
import Synchronization

/// Failures of the disk under a cache, as a test plans them.
///
/// ```swift
/// let faults = DiskFaults()
/// let settings = CacheSettings<City>().failing(by: faults)
/// let cities = try Cache(name: "cities", directory: directory.url, settings: settings)
/// faults.fail(.write, with: .noSpace)     // the disk is full from now on
/// faults.heal()                           // and has room again
/// faults.failCall(3)                      // the third call from now on fails, and no other
/// ```
///
/// A failing call does nothing on disk and throws as for the system's failure: with code `.io`, and the error number
/// in `CacheError.errorNumber`. May be changed from any thread, at any time.
public final class DiskFaults: Sendable {
    /// A kind of call that a cache makes to its disk. New kinds may be added.
    public struct Call: Sendable, Hashable {
        private enum Base { case read, write, remove, list }

        private let base: Base

        /// Reading an entry, or its information without its value.
        public static let read = Call(base: .read)
        /// Saving an entry, or moving its deadline.
        public static let write = Call(base: .write)
        /// Removing one entry or several.
        public static let remove = Call(base: .remove)
        /// Listing entries.
        public static let list = Call(base: .list)
    }

    /// A failure as the system tells it.
    public struct Failure: Sendable, Hashable {
        /// The system's error number.
        public let errorNumber: Int32

        /// A failure with any of the system's error numbers.
        ///
        /// - Parameter errorNumber: the system's error number, for example `EIO`.
        public init(errorNumber: Int32) { self.errorNumber = errorNumber }

        /// The disk is full (`ENOSPC`).
        public static let noSpace = Failure(errorNumber: ENOSPC)
        /// The device failed (`EIO`).
        public static let device = Failure(errorNumber: EIO)
        /// The file system may not be written to (`EROFS`).
        public static let readOnly = Failure(errorNumber: EROFS)
        /// The directory is another user's (`EACCES`).
        public static let denied = Failure(errorNumber: EACCES)
    }

    private struct Plan {
        var count = 0
        var kinds: [Call: Failure] = [:]
        var numbers: [Int: Failure] = [:]
    }

    private let plan = Mutex(Plan())

    /// No call fails yet.
    public init() {}

    /// How many calls there were so far, failed ones included.
    public var callCount: Int { plan.withLock { $0.count } }

    /// Has every call of one kind fail from now on, until ``heal()``.
    public func fail(_ call: Call, with failure: Failure = .device) {
        plan.withLock { $0.kinds[call] = failure }
    }

    /// Has one call fail, of any kind.
    ///
    /// - Parameters:
    ///   - number: 1 is the next call, 2 the one after it; a number below 1 is the next call.
    ///   - failure: how it fails.
    public func failCall(_ number: Int, with failure: Failure = .device) {
        plan.withLock { $0.numbers[$0.count + max(1, number)] = failure }
    }

    /// Has no call fail any longer.
    public func heal() {
        plan.withLock { plan in
            plan.kinds = [:]
            plan.numbers = [:]
        }
    }

    /// Counts a call, and throws if it is to fail.
    func check(_ call: Call, _ action: String) throws(StoreError) {
        let failure = plan.withLock { plan in
            plan.count += 1
            return plan.numbers.removeValue(forKey: plan.count) ?? plan.kinds[call]
        }
        guard let failure else { return }
        throw StoreError(
            .io,
            action: action,
            reason: String(cString: strerror(failure.errorNumber)),
            errorNumber: failure.errorNumber
        )
    }
}

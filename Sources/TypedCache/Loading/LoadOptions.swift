import Foundation

/// How a fetch loads missing values.
public struct LoadOptions: Sendable, Hashable {
    /// The fetches of a missing key that share one producer.
    public struct Joining: Sendable, Hashable, CustomStringConvertible {
        private enum Base: String { case process, processes }

        private let base: Base

        /// The fetches of the same cache object.
        public static let process = Joining(base: .process)
        /// The fetches of all processes on this machine, and of all cache objects, that use the cache's directory and
        /// choose this option, too.
        ///
        /// Takes a lock for each key that is loaded, in the file `.loads` of that directory. The system releases the
        /// lock when the process, and every child that it forked in the meantime and that runs no other program, has
        /// ended, however it ended. A load waits as long as another process has the lock, also if that process is
        /// stopped or its producer does not end: a caller that cannot wait cancels its task. A value that another
        /// process has saved in the meantime is returned. If no lock is possible, for example in a read-only
        /// directory, only fetches of this process join, and one event of kind ``CacheEvent/Kind/failed`` reports
        /// that. Waiting can be cancelled, and blocks no thread.
        public static let processes = Joining(base: .processes)

        /// `process` or `processes`.
        public var description: String { base.rawValue }
    }

    /// How eagerly a value is loaded again before it expires; `nil` loads it only afterwards.
    ///
    /// Each fetch decides by chance. A load is the more likely the closer the deadline is and the longer the last
    /// load took, so one of many fetches loads ahead, and no fetch waits. 1 is the usual choice; a greater number
    /// loads earlier, a smaller one later. The fetch itself returns the present value. Only entries that were loaded,
    /// not saved, are loaded ahead.
    ///
    /// Source: Vattani, Chierichetti, Lowenstein: Optimal probabilistic cache stampede prevention, VLDB 2015.
    public var earlyRefresh: Double?
    /// How long a producer's error is thrown again without running a producer; `nil` runs one at each fetch.
    ///
    /// Saving or removing the key ends that.
    public var failureLifetime: Duration?
    /// Whether an entry that holds another type counts as missing and is loaded again; `true` by default. Otherwise the
    /// fetch throws `.typeMismatch`.
    ///
    /// Renaming a type, or moving it to another module, has this effect on all of its entries.
    public var replacesOtherTypes: Bool
    /// Whether memory keeps a loaded value that the disk refuses, for example because it is full; `true` by default.
    ///
    /// It stays there within the limits of memory until it expires, or until its key is saved or removed. So with a
    /// full disk a producer runs once per lifetime of its value, not at every fetch. Listings, counts,
    /// `entry(forKey:)`, `stored(forKey:)` and `modify` see the disk only. With ``MemorySettings/none`` nothing is
    /// kept, and a cache without a disk keeps no value that costs more than its limit.
    public var keepsUnsaved: Bool
    /// The fetches that share one producer; ``Joining/process`` by default.
    public var joins: Joining

    /// Makes options.
    ///
    /// - Parameters:
    ///   - earlyRefresh: see ``earlyRefresh``.
    ///   - failureLifetime: see ``failureLifetime``.
    ///   - replacesOtherTypes: see ``replacesOtherTypes``.
    ///   - keepsUnsaved: see ``keepsUnsaved``.
    ///   - joins: see ``joins``.
    public init(
        earlyRefresh: Double? = nil,
        failureLifetime: Duration? = nil,
        replacesOtherTypes: Bool = true,
        keepsUnsaved: Bool = true,
        joins: Joining = .process
    ) {
        self.earlyRefresh = earlyRefresh
        self.failureLifetime = failureLifetime
        self.replacesOtherTypes = replacesOtherTypes
        self.keepsUnsaved = keepsUnsaved
        self.joins = joins
    }

    /// Whether to load a value again now that stays fresh until `deadline`.
    ///
    /// - Parameter chance: greater than 0, up to 1, drawn again for each decision.
    func refreshes(loadTime: TimeInterval, deadline: TimeInterval, now: TimeInterval, chance: Double) -> Bool {
        guard let earlyRefresh, loadTime > 0, deadline != .infinity else { return false }
        return now - loadTime * earlyRefresh * log(chance) >= deadline
    }

    /// Whether an entry that cannot be read counts as missing: its type refuses it, or the server that has it does not
    /// answer.
    func loadsAnew(_ error: CacheError) -> Bool {
        switch error.code {
        case .decodingFailed, .unreachable: true
        case .typeMismatch: replacesOtherTypes
        default: false
        }
    }
}

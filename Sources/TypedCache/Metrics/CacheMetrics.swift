import ArchiveStore
import Synchronization

/// The statistics of some caches, and how long their operations take, as text that Prometheus and other monitoring
/// systems read.
///
/// ```swift
/// let metrics = CacheMetrics()
/// let pictures = try Cache<Data>(name: "pictures", settings: CacheSettings(observer: metrics))
/// let cities = try Cache<City>(name: "cities", settings: CacheSettings(observer: metrics))
/// print(metrics.text())    // or metrics.text(.openMetrics)
/// ```
///
/// A hit in memory takes no longer than without it: hits are counted by the cache in any case, and not timed. An
/// operation on the disk and a load are timed, by two looks at the clock.
///
/// Counts are kept when a cache is closed or dropped, so that they only grow. Caches of one name count together.
public final class CacheMetrics: CacheObserver {
    private struct Member: Sendable {
        let name: String
        /// `nil` for a cache in memory alone.
        let place: String?
        let memory: SharedMemory
        weak let core: CacheCore?
    }

    private struct State {
        var members: [UInt64: Member] = [:]
        var last: UInt64 = 0
        /// The counts of caches that are gone.
        var former: [String: CacheStatistics] = [:]
        var operations: [String: OperationTimes] = [:]
        var sources: [Source] = []
    }

    private struct Source: Sendable {
        weak let source: (any MetricsSource)?
    }

    private let state = Mutex(State())

    /// Metrics of no cache yet.
    public init() {}

    /// Adds a cache that was opened with another observer, or with none. Its operations are not timed, unless its
    /// observer passes them on. Does nothing if the cache is part of these metrics already.
    public func add<Value>(_ cache: Cache<Value>) { add(cache.core) }

    /// The observer, if it is metrics. Not by a cast: where that fails, the runtime looks for a conformance of the observer's
    /// type among all that the process has.
    static func of(_ observer: (any CacheObserver)?) -> CacheMetrics? {
        guard let observer, type(of: observer) == CacheMetrics.self else { return nil }
        return observer as? CacheMetrics
    }

    func add(_ core: CacheCore) {
        guard !core.metrics.withLock({ $0.contains { $0.metrics === self } }) else { return }
        let member = Member(name: core.name, place: core.place, memory: core.memory, core: core)
        let number = state.withLock { state in
            state.last += 1
            state.members[state.last] = member
            return state.last
        }
        core.metrics.withLock { $0.append(Membership(metrics: self, number: number)) }
    }

    /// Adds the metrics of something else than a cache, for as long as it is there. Does nothing if they are there already.
    package func add(_ source: any MetricsSource) {
        state.withLock { state in
            state.sources.removeAll { $0.source == nil || $0.source === source }
            state.sources.append(Source(source: source))
        }
    }

    /// Keeps a cache among the metrics as long as it is there.
    final class Membership: Sendable {
        fileprivate let metrics: CacheMetrics
        private let number: UInt64

        fileprivate init(metrics: CacheMetrics, number: UInt64) {
            self.metrics = metrics
            self.number = number
        }

        deinit {
            // In a forked process, a thread that is not there may have the lock.
            if StoreUsage.hasQueues { metrics.remove(number) }
        }
    }

    private func remove(_ number: UInt64) {
        let former = state.withLock { state in state.members[number] }
        guard let former else { return }
        let statistics = former.memory.statistics
        state.withLock { state in
            state.members[number] = nil
            state.former[former.name, default: CacheStatistics()].add(statistics)
        }
    }

    // MARK: Operations

    /// The histograms of the caches with a name.
    func operations(of name: String) -> OperationTimes {
        state.withLock { state in
            if let known = state.operations[name] { return known }
            let new = OperationTimes()
            state.operations[name] = new
            return new
        }
    }

    /// No events: counts come from the cache's own statistics.
    public var observedEvents: ObservedEvents { .none }

    /// The moment at which an operation began.
    public func cache(_ name: String, willBegin operation: CacheOperation) -> ContinuousClock.Instant? {
        operations(of: name).cache(name, willBegin: operation)
    }

    /// Counts the time of an operation that has ended.
    public func cache(_ name: String, didEnd operation: CacheOperation, _ token: ContinuousClock.Instant?) {
        operations(of: name).cache(name, didEnd: operation, token)
    }

    // MARK: Text

    /// The metrics at this moment, in a format that a monitoring system reads.
    ///
    /// Does no disk I/O, but may wait for a save that is under way. Sizes on disk are left out if a cache would have
    /// to read the disk for them.
    ///
    /// - Complexity: O(*n*) in the number of caches.
    public func text(_ format: Format = .prometheus) -> String {
        MetricsText(snapshots(), families(), format: format).description
    }

    /// The metrics of all sources, those of one name together.
    private func families() -> [MetricsFamily] {
        let sources = state.withLock { $0.sources.compactMap(\.source) }
        var families: [MetricsFamily] = []
        for family in sources.flatMap(\.metrics) {
            if let place = families.firstIndex(where: { $0.name == family.name }) {
                families[place].samples += family.samples
            } else {
                families.append(family)
            }
        }
        return families
    }

    /// The figures of all caches by name, in order.
    private func snapshots() -> [MetricsSnapshot] {
        let (members, former, operations) = state.withLock { ($0.members, $0.former, $0.operations) }
        var snapshots: [String: MetricsSnapshot] = [:]
        for (name, statistics) in former {
            snapshots[name, default: MetricsSnapshot(name)].statistics.add(statistics)
        }
        for (name, times) in operations { snapshots[name, default: MetricsSnapshot(name)].operations = times }
        for member in members.values {
            snapshots[member.name, default: MetricsSnapshot(member.name)].add(
                member.core?.figures,
                member.memory.statistics,
                at: member.place
            )
        }
        return snapshots.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

extension CacheMetrics {
    /// A format of metrics. New ones may be added.
    public struct Format: Sendable, Hashable {
        let isOpenMetrics: Bool

        /// The text format of Prometheus, version 0.0.4.
        public static let prometheus = Format(isOpenMetrics: false)
        /// OpenMetrics, version 1.0.0.
        public static let openMetrics = Format(isOpenMetrics: true)

        private init(isOpenMetrics: Bool) { self.isOpenMetrics = isOpenMetrics }

        /// The format to answer an HTTP request with: OpenMetrics if the client takes it, otherwise that of Prometheus.
        ///
        /// - Parameter accept: the value of the request's `Accept` field; `nil` if there is none.
        public init(accept: String?) {
            self.init(isOpenMetrics: accept?.lowercased().contains("application/openmetrics-text") ?? false)
        }

        /// The value of the field `Content-Type` of an HTTP response.
        public var contentType: String {
            isOpenMetrics
                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8"
        }
    }
}

/// The figures of all caches with one name.
struct MetricsSnapshot {
    let name: String
    var statistics = CacheStatistics()
    /// `nil` where no size is known.
    var memory: TierFigures?
    /// Of each directory once, however many caches have it open.
    var disks: [String: TierFigures] = [:]
    var operations: OperationTimes?

    init(_ name: String) { self.name = name }

    mutating func add(_ figures: CacheFigures?, _ statistics: CacheStatistics, at place: String?) {
        self.statistics.add(statistics)
        guard let figures else { return }
        memory = memory.map { $0.joined(with: figures.memory) } ?? figures.memory
        if let place { disks[place] = figures.disk }
    }

    /// The sizes on disk; `nil` for caches in memory alone.
    var disk: TierFigures? {
        guard let first = disks.values.first else { return nil }
        return disks.values.dropFirst().reduce(first) { $0.joined(with: $1) }
    }
}

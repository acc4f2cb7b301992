import ArchiveStore
import Dispatch
import Foundation
import Synchronization

/// Samples the uses of a cache's keys, and keeps their profile beside the cache.
///
/// A use of a key that is not sampled costs a comparison of its hash with the threshold. The others take a lock, and
/// half a microsecond for each size that is simulated and has no entry of the key. Pauses bound their time, and the
/// number of sampled keys bounds the memory.
///
/// The profile's counts are added to those of the file at most once a minute, where keys are used, and at the end.
/// Hashes have seeds of the process, and memory is empty when a process begins: so samples end with the process, and the
/// file has counts alone.
///
/// Nothing holds it weakly: an object that was ever held so has its references counted in a table beside it, which cost
/// each hit 40 ns.
final class UseSampler: Sendable {
    /// The state that the end of a pause needs: a pause may end after the cache.
    private final class Sample: Sendable {
        let gate: HitGate
        let state: Mutex<SampledUses>

        init(_ uses: SampledUses, gate: HitGate) {
            state = Mutex(uses)
            self.gate = gate
            gate.threshold = .max
        }

        func change<Result>(_ body: (inout SampledUses) -> Result) -> Result {
            state.withLock { state in
                let result = body(&state)
                gate.threshold = state.threshold
                return result
            }
        }
    }

    /// The most keys whose order is kept, at 56 bytes each with the spare room of tables.
    static let mostOrderedKeys = 3_000
    /// The most entries of each miniature cache, at 0.2 KiB each, with four ghosts for each.
    static let mostSimulatedEntries = 340
    private static let interval = Duration.seconds(60)

    private let sample: Sample
    private let memory: SharedMemory
    private let directory: String
    private let byteLimit: Int?
    private let clock: any CacheClock
    private let generation = StoreUsage.processGeneration

    /// `nil` where the settings ask for no profile, and for a cache in memory alone.
    ///
    /// - Parameters:
    ///   - directory: the cache's own, which exists; `nil` for a cache in memory alone.
    ///   - gate: stops the hits that are sampled.
    init?(
        _ settings: MemorySettings,
        of memory: SharedMemory,
        directory: String?,
        clock: any CacheClock,
        gate: HitGate
    ) {
        guard settings.profilesUse, let directory else { return nil }
        self.directory = directory
        byteLimit = settings.byteLimit?.bytes
        self.memory = memory
        self.clock = clock
        let largest = byteLimit.map { max(Self.leastLargestSize, Double($0) * Self.largestSizes) } ?? .infinity
        sample = Sample(
            SampledUses(
                distances: ReuseDistances(mostKeys: Self.mostOrderedKeys, largestSize: largest),
                miniatures: MiniatureCaches(mostEntries: Self.mostSimulatedEntries, largestSize: largest),
                startedAt: clock.now
            ),
            gate: gate
        )
    }

    /// How many times the limit of memory the largest size of interest is.
    private static let largestSizes = 16.0
    private static let leastLargestSize = 16.0 * 1_048_576

    deinit { save() }

    /// Whether uses of a key are counted.
    private func samples(_ hash: UInt64) -> Bool { hash <= sample.gate.threshold }

    // MARK: Uses

    /// A cost as it is counted: one byte at least, and no more than sums of all keys' costs can take.
    private static func counted(_ cost: Int) -> Int { min(max(1, cost), 1 << 40) }

    /// Counts a fetch.
    ///
    /// - Parameter cost: the cost of the value that was found; `nil` if none was.
    func use(_ hash: UInt64, cost: Int?) {
        guard samples(hash) else { return }
        change { state in state.use(hash, byteCount: cost.map(Self.counted)) }
    }

    func save(_ hash: UInt64, cost: Int) {
        guard samples(hash) else { return }
        change { state in state.save(hash, byteCount: Self.counted(cost)) }
    }

    func remove(_ hash: UInt64) {
        guard samples(hash) else { return }
        change { $0.remove(hash) }
    }

    func removeAll() {
        change { $0.removeAll() }
    }

    private func change(_ body: (inout SampledUses) -> Void) {
        let now = ContinuousClock.now
        let (isDue, needsStatistics, pause) = sample.change { state in
            body(&state)
            let isDue = now - state.savedAt > Self.interval
            if isDue { state.savedAt = now }
            // Without queues nothing would end a pause.
            let pause = StoreUsage.hasQueues ? state.pauseDue(at: now) : nil
            return (isDue, state.needsStatistics, pause)
        }
        if needsStatistics {
            let statistics = memory.statistics
            sample.change { $0.watch(from: statistics) }
        }
        if let pause { begin(pause) }
        if isDue, StoreUsage.hasQueues { Self.queue.async { self.save() } }
    }

    private static let queue = DispatchQueue.global(qos: .utility)

    /// Ends the window; the next one begins after `pause`.
    private func begin(_ pause: Duration) {
        let statistics = memory.statistics
        sample.change { $0.endWindow(statistics) }
        let milliseconds = Int(pause / .milliseconds(1))
        Self.queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [sample] in
            sample.change { $0.beginWindow(at: .now) }
        }
    }

    // MARK: The file

    /// Adds the counts to those of the file. Blocks on disk I/O.
    ///
    /// A failure keeps them for the next time, and is not told: nothing but advice depends on them.
    func save() {
        // A copy in a forked process: threads that do not exist here may have its lock.
        guard generation == StoreUsage.processGeneration else { return }
        let statistics = memory.statistics
        let now = clock.now
        let saved = sample.change { state in
            state.take(at: now, statistics).map { taken in
                (taken, state.profile(taken, at: now, statistics, byteLimit: byteLimit))
            }
        }
        guard let (taken, later) = saved else { return }
        do throws(StoreError) {
            try ProfileFile.update(inDirectory: directory, byteCount: UseProfile.byteLength) { bytes in
                guard let bytes else { return later.bytes }
                // One that cannot be read gives way, but for one of a later version.
                switch Result(catching: { () throws(CacheError) in try UseProfile(bytes) }) {
                case .success(var profile):
                    profile.add(later)
                    return profile.bytes
                case .failure(let error): return error.code == .unsupportedVersion ? nil : later.bytes
                }
            }
        } catch {
            sample.change { $0.putBack(taken) }
        }
    }

    /// The profile beside a cache; `nil` if there is none. Blocks on disk I/O.
    ///
    /// - Throws: `.corrupted`, `.unsupportedVersion`, `.io`.
    static func profile(inDirectory directory: String) throws(CacheError) -> UseProfile? {
        let bytes: [UInt8]?
        do throws(StoreError) {
            bytes = try ProfileFile.bytes(inDirectory: directory, byteCount: UseProfile.byteLength)
        } catch {
            throw CacheError(error)
        }
        return try bytes.map { (bytes) throws(CacheError) in try UseProfile(bytes) }
    }
}

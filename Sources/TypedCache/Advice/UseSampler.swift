import ArchiveStore
import Dispatch
import Foundation
import Synchronization

/// Samples the uses of a cache's keys, and keeps their profile beside the cache.
///
/// A use of a key that is not sampled costs a comparison of its hash with the threshold. The others take a lock, and
/// half a microsecond for each size that is simulated. Its memory is bounded by the number of sampled keys.
///
/// The profile's counts are added to those of the file at most once a minute, where keys are used, and at the end.
/// Hashes have seeds of the process, and memory is empty when a process begins: so samples end with the process, and the
/// file has counts alone.
final class UseSampler: Sendable {
    /// The most keys whose order is kept, at 64 bytes each with the spare room of tables.
    static let mostOrderedKeys = 3_000
    /// The most keys in the miniature caches, at 0.6 KiB each.
    static let mostSimulatedKeys = 704
    private static let interval = Duration.seconds(60)

    /// Hashes up to it are sampled.
    private let threshold = Atomic<UInt64>(.max)
    private let state: Mutex<SampledUses>
    private let memory: SharedMemory
    private let directory: String
    private let byteLimit: Int?
    private let clock: any CacheClock
    private let generation = StoreUsage.processGeneration

    /// `nil` where the settings ask for no profile, and for a cache in memory alone.
    ///
    /// - Parameter directory: the cache's own, which exists; `nil` for a cache in memory alone.
    init?(_ settings: MemorySettings, of memory: SharedMemory, directory: String?, clock: any CacheClock) {
        guard settings.profilesUse, let directory else { return nil }
        self.directory = directory
        byteLimit = settings.byteLimit?.bytes
        self.memory = memory
        self.clock = clock
        let largest = byteLimit.map { max(Self.leastLargestSize, Double($0) * Self.largestSizes) } ?? .infinity
        state = Mutex(
            SampledUses(
                distances: ReuseDistances(mostKeys: Self.mostOrderedKeys, largestSize: largest),
                miniatures: MiniatureCaches(mostKeys: Self.mostSimulatedKeys, largestSize: largest),
                profile: UseProfile(startedAt: clock.now)
            )
        )
    }

    /// How many times the limit of memory the largest size of interest is.
    private static let largestSizes = 16.0
    private static let leastLargestSize = 16.0 * 1_048_576

    deinit { save() }

    /// Whether uses of a key are counted.
    @inline(__always) func samples(_ hash: UInt64) -> Bool { hash <= threshold.load(ordering: .relaxed) }

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
        let isDue = state.withLock { state in
            body(&state)
            threshold.store(state.threshold, ordering: .relaxed)
            guard ContinuousClock.now - state.savedAt > Self.interval else { return false }
            state.savedAt = .now
            return true
        }
        if isDue, StoreUsage.hasQueues { DispatchQueue.global(qos: .utility).async { [weak self] in self?.save() } }
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
        let (taken, former) = state.withLock { state in
            let former = state.known
            return (state.take(at: now, statistics, byteLimit: byteLimit), former)
        }
        guard let taken else { return }
        do throws(StoreError) {
            try ProfileFile.update(inDirectory: directory, byteCount: UseProfile.byteLength) { bytes in
                guard let bytes else { return taken.bytes }
                // One that cannot be read gives way, but for one of a later version.
                switch Result(catching: { () throws(CacheError) in try UseProfile(bytes) }) {
                case .success(var profile):
                    profile.add(taken)
                    return profile.bytes
                case .failure(let error): return error.code == .unsupportedVersion ? nil : taken.bytes
                }
            }
        } catch {
            state.withLock { $0.putBack(taken, former) }
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

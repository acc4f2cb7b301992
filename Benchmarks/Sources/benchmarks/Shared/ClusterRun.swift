import BenchmarkKit
import Foundation
import SharedCache
import TypedCache

/// Caches on clusters: how long a killed master is missed, and how fast a cluster is filled.
struct ClusterRun {
    private static let recovery = FleetRun.Row(
        work: "from kill -9 of a master with a replica until a key of its is saved and read again",
        parameters: ["node timeout": "\(RedisClusterProcess.nodeTimeout / .seconds(1)) s"],
        subject: "Cache"
    )
    private static let recordCount = 34_006
    private static let warming = ["records": "\(recordCount)"]
    private static let onDisk = "typed-cache warm, a packed store"
    private static let onCluster = "typed-cache warm, three masters"
    private static let ratio = FleetRun.Row(
        work: "warm a cache, speed as a multiple of \(onDisk)",
        parameters: warming,
        subject: onCluster
    )
    static let rows = [recovery, ratio]

    let server: String
    let client: String

    func run(_ context: Context) throws {
        try measureRecovery(context)
        try measureWarming(context)
    }

    // MARK: A killed master

    private func measureRecovery(_ context: Context) throws {
        context.progress("recovery")
        let cluster = try RedisClusterProcess(
            server,
            client: client,
            hasReplicas: true,
            folder: context.makeFolder("cluster")
        )
        defer { cluster.end() }
        let tier = try SharedTier(cluster.url("?prefix=recovery"))
        defer { tier.close() }
        let cache = try Cache<Note>(name: "notes", shared: tier, settings: CacheSettings(memory: .none))
        let keys = (0..<12).map { "note-\($0)" }
        for key in keys { try cache.save(Note(version: 0, text: key), forKey: key) }
        // Asked before any is killed.
        let owned = try (0..<(context.isQuick ? 1 : RedisClusterProcess.masterCount)).map { master in
            let own = try keys.first { try cluster.firstMaster(of: $0) == master }
            guard let own else { throw BenchmarkError("master \(master) has no key") }
            return own
        }
        let samples = try owned.enumerated().map { master, own in
            cluster.kill(master)
            return try secondsUntilServed(own, by: cache, version: master + 1)
        }
        context.value(
            work: Self.recovery.work,
            parameters: Self.recovery.parameters,
            subject: Self.recovery.subject,
            isOurs: true,
            unit: "s",
            samples: samples
        )
    }

    private func secondsUntilServed(_ key: String, by cache: Cache<Note>, version: Int) throws -> Double {
        let start = ContinuousClock.now
        let end = start + .seconds(60)
        while ContinuousClock.now < end {
            do {
                try cache.save(Note(version: version, text: key), forKey: key)
                if try cache.fetch(forKey: key)?.version == version {
                    return (ContinuousClock.now - start) / .seconds(1)
                }
            } catch  where error.code == .unreachable {
                // As long as the key has no master.
            }
            usleep(5_000)
        }
        throw BenchmarkError("the cluster did not recover within 60 s")
    }

    // MARK: Filling

    private func measureWarming(_ context: Context) throws {
        let folder = try context.makeFolder("warming")
        let records = try City.file(of: Self.recordCount, in: folder)
        let log = folder.appending(path: "log")
        let cluster = try RedisClusterProcess(
            server,
            client: client,
            hasReplicas: false,
            folder: context.makeFolder("masters")
        )
        defer { cluster.end() }
        let contestants = [
            WarmContestant.command(Self.onDisk),
            WarmContestant.command(Self.onCluster, shared: cluster.url("?prefix=warm")),
        ]
        if let obstacle = contestants[0].obstacle {
            return context.unavailable(
                work: Self.ratio.work,
                parameters: Self.ratio.parameters,
                subject: Self.ratio.subject,
                reason: obstacle
            )
        }
        var speeds = [[Double]](repeating: [], count: contestants.count)
        for round in 0..<(context.isQuick ? 1 : 5) {
            for turn in contestants.indices {
                let index = (round + turn) % contestants.count
                context.progress(contestants[index].name)
                let place = folder.appending(path: "\(round)-\(index)", directoryHint: .isDirectory)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                speeds[index].append(
                    try WarmRun(
                        contestants[index],
                        records: records,
                        count: Self.recordCount,
                        into: place,
                        log: log
                    )
                    .recordsPerSecond
                )
            }
        }
        for (contestant, speeds) in zip(contestants, speeds) {
            context.value(
                work: "warm a cache",
                parameters: Self.warming,
                subject: contestant.name,
                isOurs: true,
                unit: "records/s",
                better: .higher,
                samples: speeds
            )
        }
        context.value(
            work: Self.ratio.work,
            parameters: Self.ratio.parameters,
            subject: Self.ratio.subject,
            isOurs: true,
            unit: "×",
            better: .higher,
            samples: zip(speeds[1], speeds[0]).map(/)
        )
    }
}

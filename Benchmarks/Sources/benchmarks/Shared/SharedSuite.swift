import BenchmarkKit
import Foundation
import SharedCache
import TypedCache

/// Caches on a server that machines share. The server, and all other processes, are started and ended here.
struct SharedSuite: Suite {
    static let name = "shared"
    static let summary = "caches on a Redis server, beside Python clients and redis-benchmark"

    func run(_ context: Context) throws {
        guard let program = RedisServerProcess.program("redis-server", "valkey-server") else {
            return recordAbsence(context)
        }
        let server = try RedisServerProcess(program, folder: context.makeFolder("server"))
        defer { server.end() }
        let articles = Article.make(count: RemoteCache.keyCount, textByteCount: 1_024)
        let python = try peers(server, articles, in: context)
        defer { python?.end() }

        try compareHits(server, articles, python: python, context: context)
        try compareCalls(server, articles, python: python, context: context)
        try FleetRun(url: server.url("?prefix=fleet")).run(context)
        if let client = RedisServerProcess.program("redis-cli", "valkey-cli") {
            try ClusterRun(server: program, client: client).run(context)
        }
        if let python {
            let trials = 30
            let row = FleetRun.wrongReadsRow("cashews, of \(trials)")
            context.value(
                work: row.work,
                subject: row.subject,
                unit: "keys",
                samples: [try python.number("trial \(trials)")]
            )
        }
    }

    /// Says that there is no server, in the rows that have bounds as well.
    private func recordAbsence(_ context: Context) {
        let rows =
            [
                FleetRun.Row(work: Self.hit, parameters: ["threads": "1"], subject: Self.cacheOnServer),
                FleetRun.producersRow,
                FleetRun.wrongReadsRow("Cache, of \(FleetRun.trialCount(context))"),
            ] + ClusterRun.rows
        for row in rows {
            context.unavailable(
                work: row.work,
                parameters: row.parameters,
                subject: row.subject,
                reason: "redis-server is not installed"
            )
        }
    }

    private func peers(_ server: RedisServerProcess, _ articles: [Article], in context: Context) throws
        -> PythonPeers?
    {
        let folder = try context.makeFolder("peers")
        if let obstacle = PythonPeers.obstacle(log: folder.appending(path: "log")) {
            for subject in ["redis-py", "cashews"] {
                context.unavailable(work: "fetch 1 KiB from the server", subject: subject, reason: obstacle)
            }
            return nil
        }
        let file = folder.appending(path: "articles.json")
        try JSONEncoder().encode(articles).write(to: file)
        return try PythonPeers(port: server.port, articles: file)
    }

    // MARK: Hits near

    private static let hit = "hit in memory"
    private static let cacheOnServer = "Cache on a server"

    private func compareHits(
        _ server: RedisServerProcess,
        _ articles: [Article],
        python: PythonPeers?,
        context: Context
    ) throws {
        let tier = try SharedTier(server.url("?prefix=hits"))
        defer { tier.close() }
        while !tier.isVerified { usleep(1_000) }
        let alone = try Cache<Article>(name: "articles", directory: context.makeFolder("alone", inMemory: true))
        let shared = try Cache<Article>(name: "articles", shared: tier)
        let keys = articles.indices.map { "articles/\($0)" }
        for cache in [alone, shared] {
            for (key, article) in zip(keys, articles) { try cache.save(article, forKey: key) }
            // Into memory, after news of the tier.
            for key in keys { _ = try cache.fetch(forKey: key) }
        }
        let mask = RemoteCache.keyCount - 1
        let before = shared.statistics
        for threads in [1, 2] {
            try context.compare(
                work: Self.hit,
                parameters: ["threads": "\(threads)"],
                subjects: [
                    .parallel("Cache without a server", isOurs: true, threads: threads) {
                        try alone.fetch(forKey: keys[$0 & mask])
                    },
                    .parallel(Self.cacheOnServer, isOurs: true, threads: threads) {
                        try shared.fetch(forKey: keys[$0 & mask])
                    },
                ]
            )
        }
        let after = shared.statistics
        guard after.diskHits == before.diskHits, after.misses == before.misses else {
            throw BenchmarkError("fetches that should have hit memory did not")
        }
        guard let python else { return }
        for (subject, command) in [
            ("redis-py, its client-side cache", "redis-py"), ("cashews, client side", "cashews"),
        ] {
            context.value(
                work: "hit in the client's memory",
                subject: subject,
                unit: "ns",
                samples: try (0..<(context.isQuick ? 3 : 9)).map { _ in try python.number("hit \(command)") }
            )
        }
    }

    // MARK: Calls of the server

    private func compareCalls(
        _ server: RedisServerProcess,
        _ articles: [Article],
        python: PythonPeers?,
        context: Context
    ) throws {
        let tier = try SharedTier(server.url("?prefix=calls"))
        defer { tier.close() }
        let cache = try RemoteCache(tier, articles)
        let log = try context.makeFolder("log").appending(path: "output")
        let floor = RedisServerProcess.program("redis-benchmark", "valkey-benchmark").map {
            RedisBenchmark(program: $0, port: server.port, log: log)
        }
        func others(_ mine: String, _ pythons: String, tasks: Int) -> [RemoteContestant] {
            (python?.contestants(pythons, tasks: tasks) ?? []) + (floor?.contestants(mine, tasks: tasks) ?? [])
        }
        // For the floor to find something.
        _ = try floor?.contestants("set", tasks: 1)[0].measure(0.01)
        for tasks in [1, 16, 256] {
            let pipeline = "redis-benchmark, a pipeline of \(tasks)"
            let alone = tasks == 1
            try RemoteContest(
                context: context,
                work: "fetch 1 KiB from the server",
                tasks: tasks,
                speedRatios: alone
                    ? [("Cache", "redis-py"), ("Cache, blocking", "redis-py"), ("Cache", "redis-py, asyncio")]
                    : [
                        ("Cache", "redis-py, threads"), ("Cache", "redis-py, asyncio"),
                        ("Cache", "redis-py, pipeline"),
                        ("Cache, fetch(forKeys:)", "redis-py, pipeline"),
                    ],
                timeRatios: alone
                    ? [("Cache", pipeline), ("Cache, blocking", pipeline)]
                    : [
                        ("Cache", pipeline), ("Cache, fetch(forKeys:)", pipeline),
                        ("Cache", "redis-benchmark, \(tasks) connections"),
                    ]
            )
            .run(cache.fetching(tasks: tasks) + others("get", "fetch", tasks: tasks))
        }
        let tasks = 256
        let pipeline = "redis-benchmark, a pipeline of \(tasks)"
        let connections = "redis-benchmark, \(tasks) connections"
        try RemoteContest(
            context: context,
            work: "save 1 KiB on the server",
            tasks: tasks,
            speedRatios: [
                ("Cache", "redis-py, asyncio"), ("Cache", "redis-py, pipeline"), ("Cache", pipeline),
                ("Cache", connections),
            ],
            timeRatios: [("Cache", pipeline), ("Cache", connections)]
        )
        .run(cache.saving(tasks: tasks) + others("set", "save", tasks: tasks))
    }
}

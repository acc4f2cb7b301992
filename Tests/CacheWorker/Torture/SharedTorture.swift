import Foundation
import RedisServers
import SharedCache
import TestSupport

/// Has several processes work on one server at once, cuts and stalls their connections, stops, kills and starts
/// processes and the server, and judges every read.
final class SharedTorture {
    /// The settings of all processes. Shorter times make more of them; loaded values that no server has are not kept.
    static let tier = SharedSettings(
        heartbeat: .init(interval: .milliseconds(50), deadline: .milliseconds(200)),
        whenUnreachable: .init(serve: .zero, keep: .zero),
        loads: .oncePerFleet(lease: .seconds(2))
    )

    private static let keys = (0..<12).map { "k\($0)" }

    private let settings: TortureSettings
    private var random: SeededGenerator
    private var former: [SharedHistory.Replaced: Bool] = [:]

    init(_ settings: TortureSettings) {
        self.settings = settings
        random = SeededGenerator(seed: settings.seed)
    }

    /// Goes on until time is up or something is wrong.
    func run() async throws -> PartReport {
        guard RedisServer.isInstalled else {
            var report = PartReport(part: "shared")
            report.skipped = "redis-server is not installed"
            return report
        }
        let server = try await RedisServer()
        let proxies = try (0..<2).map { _ in try FaultProxy(to: server.port) }
        defer { for proxy in proxies { proxy.end() } }
        let crowd = Crowd(settings, folder: try settings.folder("shared"), seed: settings.seed) { worker, place in
            // A third is connected without a proxy.
            let port = place % 3 == 2 ? server.port : proxies[place % 3].port
            worker.server = "redis://127.0.0.1:\(port)/?prefix=torture&soft_timeout=300ms&timeout=1s"
            worker.keys = Self.keys
            worker.mix = .sharing
        }
        return try crowd.run("shared", inRoundsOf: .seconds(4)) { round, duration, report in
            try run(round, crowd, server: server, proxies: proxies, for: duration, report: &report)
        }
    }

    private func run(
        _ round: Int,
        _ crowd: Crowd,
        server: RedisServer,
        proxies: [FaultProxy],
        for duration: Duration,
        report: inout PartReport
    ) throws -> [Violation] {
        var history = SharedHistory(keys: Self.keys, former: former)
        let isCalm = round % 3 == 0
        // Until all are connected again, and have paid their debts.
        if isCalm { MonotonicTime.now.advanced(by: .seconds(1)).wait() }
        try crowd.run(for: duration) {
            isCalm
                ? { _ = usleep(10_000) }()
                : try fault(crowd, server: server, proxies: proxies, report: &report)
        } heard: { child, records, death in
            report.add(1, "kills")
            history.add(records, writer: child.settings.writer, death: death)
        }
        for (child, records) in try crowd.newRecords() { history.add(records, writer: child.settings.writer) }
        former = history.values
        report.add(history.operationCount, "operations")
        report.add(history.failureCount, "that failed")
        report.add(history.reads.count, "reads judged")
        report.add(history.replacements.count, "changes in one step")
        report.add(history.productions.count, "producers")
        let judge = SharedJudge(window: Self.tier.heartbeat.interval + Self.tier.heartbeat.deadline)
        return judge.violations(in: history, isCalm: isCalm)
    }

    /// Spoils something for a while.
    private func fault(
        _ crowd: Crowd,
        server: RedisServer,
        proxies: [FaultProxy],
        report: inout PartReport
    ) throws {
        usleep(.random(in: 20_000...300_000, using: &random))
        let proxy = proxies[Int.random(in: 0..<proxies.count, using: &random)]
        let time = UInt32.random(in: 10_000...700_000, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 0..<4:
            report.add(1, "cuts")
            proxy.fault = .cut(after: Int.random(in: 1...4_000, using: &random))
        case 4..<7:
            report.add(1, "stalls")
            proxy.fault = .stall
            usleep(time)
            proxy.fault = .none
        case 7..<9:
            report.add(1, "stops of the server")
            server.signal(SIGSTOP)
            usleep(time)
            server.signal(SIGCONT)
        case 9:
            report.add(1, "starts of the server")
            server.kill()
            usleep(time)
            try server.startAgain()
        default:
            let child = crowd.children[Int.random(in: 0..<crowd.children.count, using: &random)]
            guard try child.stop() else { return }
            report.add(1, "stops of processes")
            usleep(time)
            child.goOn()
        }
    }
}

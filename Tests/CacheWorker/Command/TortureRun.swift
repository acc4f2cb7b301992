import Foundation

/// Runs the parts one after another, and prints their findings.
struct TortureRun {
    let options: TortureOptions
    let executable: URL

    private struct Summary: Codable {
        let seed: UInt64
        let parts: [PartReport]
        let violationCount: Int
    }

    /// - Returns: the exit code.
    func run() async throws -> Int32 {
        Interruption.watch()
        let seed = options.seed ?? UInt64.random(in: 0..<1_000_000)
        let scratch = try makeScratch()
        let parts = options.parts.isEmpty ? TortureOptions.Part.allCases : options.parts
        let weights = parts.map(\.weight).reduce(0, +)
        // Standard output is for the result alone.
        func prose(_ line: String) {
            if options.printsJSON { Terminal.tell(line) } else { Terminal.say(line) }
        }
        Terminal.tell("seed \(seed), in \(scratch.path)")
        var reports: [PartReport] = []
        let layouts = options.layout.map { [$0] } ?? [.packed, .files]
        let runs = parts.flatMap { part in
            let own = part.isOfModels || part.isOfServers ? [.packed] : layouts
            return own.map { (part, $0, share: 1 / Double(own.count)) }
        }
        for (part, layout, share) in runs where Interruption.arrived == 0 {
            let settings = TortureSettings(
                executable: executable,
                scratch: scratch.appending(path: layout.rawValue, directoryHint: .isDirectory),
                layout: layout,
                seed: seed,
                duration: .seconds(options.seconds * part.weight / weights * share),
                kills: options.kills,
                processCount: options.processCount,
                isInterrupted: { Interruption.arrived != 0 },
                progress: { Terminal.tell($0) }
            )
            var report =
                switch part {
                case .kills: try KillTorture(settings).run()
                case .processes: try ProcessTorture(settings).run()
                case .following: try ProcessTorture(settings, .following).run()
                case .behind: try ProcessTorture(settings, .behind).run()
                case .limits: try LimitTorture(settings).run()
                case .counters: try CounterTorture(settings).run()
                case .disk: try DiskTorture(settings).run()
                case .merges: try await ModelTorture(settings, .merging).run()
                case .erasures: try await ModelTorture(settings, .erasing).run()
                case .shared: try await SharedTorture(settings).run()
                }
            if !part.isOfServers { report.layout = layout.rawValue }
            reports.append(report)
            prose(report.prose)
        }
        let violations = reports.flatMap(\.violations)
        if options.printsJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let summary = Summary(seed: seed, parts: reports, violationCount: violations.count)
            Terminal.say(String(decoding: try encoder.encode(summary), as: UTF8.self))
        }
        if violations.isEmpty {
            try FileManager.default.removeItem(at: scratch)
            return Interruption.arrived == 0 ? 0 : 128 + Interruption.arrived
        }
        let examples = reports.flatMap(\.examples)
        for example in examples { prose(example) }
        if violations.count > examples.count { prose("… and \(violations.count - examples.count) more") }
        prose("Caches and logs are kept in \(scratch.path); again:")
        for report in reports where !report.violations.isEmpty {
            let layout = report.layout.map { " --layout \($0)" } ?? ""
            prose("  CacheWorker torture \(report.part)\(layout) --seed \(seed)")
        }
        return 1
    }

    private func makeScratch() throws -> URL {
        let parent =
            options.scratch.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory
        let scratch = parent.appending(path: "cache-torture-\(getpid())", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        return scratch
    }
}

/// Runs `export`.
struct ExportCommand {
    let options: ExportOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        // First, so that no directory is made for a cache that is not there.
        let cache = try environment.backend.open(options.cache)
        let folder = try ExchangeFolder(path: options.path, creating: true)
        let exporter = Exporter(
            walk: EntryWalk(cache: cache, interruption: interruption, now: environment.now),
            folder: folder,
            includesExpired: options.includesExpired,
            date: environment.date()
        )
        if try !folder.isEmpty() {
            guard options.isForced else { throw CommandFailure.notEmpty(path: options.path) }
            do {
                try exporter.removeFormer()
            } catch SourceError.interrupted {
                return interruption.signal.map(ExitStatus.signal) ?? .failure
            }
        }
        var reporter = EntryReporter(environment.errors)
        defer { reporter.finish() }
        let summary = try exporter.run(reporter: &reporter)
        reporter.finish()
        let text = options.writesJSON ? JSONWriter.text(summary.json, isIndented: false) : summary.prose
        try environment.output.write(text + "\n")
        if let signal = summary.signal { return .signal(signal) }
        return summary.failed > 0 ? .failure : .success
    }
}

/// Runs `import`.
struct ImportCommand {
    let options: ImportOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        // First, so that no cache is made for a directory that is not there, or has nothing for it.
        let folder = try ExchangeFolder(path: options.path, creating: false)
        guard try Importer.holdsAny(folder) else { throw CommandFailure.nothingToImport(path: options.path) }
        let importer = Importer(
            folder: folder,
            cache: options.isDryRun ? nil : try environment.backend.openOrCreate(options.cache),
            replaces: !options.keepsPresent,
            interruption: interruption,
            date: environment.date(),
            now: environment.now
        )
        var reporter = EntryReporter(environment.errors)
        defer { reporter.finish() }
        let summary = try importer.run(reporter: &reporter)
        reporter.finish()
        let text =
            options.writesJSON
            ? JSONWriter.text(summary.json, isIndented: false) : summary.prose(isDryRun: options.isDryRun)
        try environment.output.write(text + "\n")
        if let signal = summary.signal { return .signal(signal) }
        return summary.invalid > 0 ? .failure : .success
    }
}

/// Runs `verify`.
struct VerifyCommand {
    let options: VerifyOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let cache = try environment.backend.open(options.cache)
        let walk = EntryWalk(cache: cache, interruption: interruption, now: environment.now)
        let date = environment.date()
        var reporter = EntryReporter(environment.errors)
        var summary = VerifySummary()
        defer { reporter.finish() }
        try walk.run(reporter: &reporter) { listed, _ in
            do {
                guard let entry = try walk.read(listed) else { return }
                if entry.isExpired(at: date) { summary.expired += 1 } else { summary.sound += 1 }
            } catch let finding as EntryFinding {
                summary.findings.append(finding)
            }
        }
        reporter.finish()
        summary.signal = interruption.signal
        // Not after an interruption: the user has not seen every entry that would be removed.
        if options.repairs, summary.signal == nil { summary.removed = try repair(cache, summary.findings) }
        try show(summary, environment)
        if let signal = summary.signal { return .signal(signal) }
        return summary.findings.isEmpty ? .success : .failure
    }

    /// Removes the damaged entries. Those with the bytes that were saved, but no keyed archive in them, are removed one
    /// by one; all others together.
    private func repair(_ cache: any CacheAccess, _ findings: [EntryFinding]) throws -> Int {
        var count = 0
        for finding in findings where finding.isDamaged {
            if let entry = finding.entry, try cache.remove(entry) { count += 1 }
        }
        return try count + cache.removeDamaged()
    }

    private func show(_ summary: VerifySummary, _ environment: CommandEnvironment) throws {
        if options.writesJSON {
            try environment.output.write(JSONWriter.text(summary.json, isIndented: false) + "\n")
            return
        }
        for finding in summary.findings {
            try environment.output.write("\(finding.isDamaged ? "damaged" : "not readable")  \(finding.prose)\n")
        }
        try environment.output.write(summary.prose + "\n")
    }
}

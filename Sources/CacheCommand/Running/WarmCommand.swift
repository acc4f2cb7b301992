/// Runs `warm`.
struct WarmCommand {
    let options: WarmOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        var (source, size) = try openSource(environment, interruption)
        let sink: any RecordSink =
            options.isDryRun
            ? try environment.backend.checkingSink(for: options) : try environment.backend.sink(for: options)
        let warmer = Warmer(options, sink: sink, interruption: interruption, now: environment.now)
        var reporter = WarmReporter(
            output: environment.output,
            errors: environment.errors,
            printsKeys: options.printsKeys,
            isQuiet: options.isQuiet
        )
        let result = warmer.run(&source, size: size, observer: &reporter)
        reporter.finish()
        return try conclude(result, environment)
    }

    private func openSource(
        _ environment: CommandEnvironment,
        _ interruption: any Interruption
    ) throws -> (any RecordSource, size: Int?) {
        do throws(SourceError) {
            let input = try environment.openInput(options.source, interruption)
            let source = try RecordSources.open(input, at: options.source, format: options.format)
            return (source, input.size)
        } catch .interrupted {
            return (EmptySource(), nil)
        } catch {
            throw CommandFailure.source(error, options.source)
        }
    }

    /// Shows the failure, if there is one, and the summary; returns how the process ends.
    private func conclude(_ result: WarmResult, _ environment: CommandEnvironment) throws -> ExitStatus {
        let summary = result.summary
        if result.failure as? OutputError == .closed { throw OutputError.closed }
        if let failure = result.failure {
            let error = (failure as? SourceError).map { CommandFailure.source($0, options.source) } ?? failure
            environment.errors.report(CommandFailureMessage(error))
        }
        if options.writesJSON {
            try environment.output.write(JSONWriter.text(summary.json, isIndented: false) + "\n")
        } else if !options.isQuiet {
            environment.errors.write(summary.prose(isDryRun: options.isDryRun) + "\n")
        }
        if result.failure != nil { return .failure }
        if let signal = summary.signal { return .signal(signal) }
        return summary.invalid > 0 && !options.skipsInvalid ? .failure : .success
    }
}

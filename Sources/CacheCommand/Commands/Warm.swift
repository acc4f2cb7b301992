import KeyedArchive

/// `warm`: saves records from a source into a cache.
struct Warm: Subcommand {
    static let name = "warm"
    static let summary = "Save records from a file or from standard input into a cache"
    static let discussion: String? =
        "Reports a record that it cannot read, or that is larger than 64 MiB, with its line, and skips it; "
        + "the exit code is then 1. If a record cannot be saved, on a full disk for example, its key keeps the "
        + "present entry. Keeps nulls: an optional reads them as nil. Refuses whole numbers of more than 64 "
        + "bits. After Ctrl-C the saved entries stay, and --resume goes on from there."
    static let examples = [
        CommandExample(
            arguments: [
                "warm", "cities.ndjson", "--cache", "cities", "--key", "geonameid", "--type", "atlas.City", "--ttl",
                "7d",
            ],
            meaning: "Save a city per line for a week"
        ),
        CommandExample(
            arguments: [
                "warm", "-", "--format", "csv", "--cache", "prices", "--app", "Shop", "--key", "sku", "--fields",
                "sku:string,price:double,until:date?",
            ],
            meaning: "Save typed columns from a pipe"
        ),
        CommandExample(
            arguments: [
                "warm", "cities.ndjson", "--cache", "cities", "--key", "geonameid", "--resume", "--max-size", "16M",
            ],
            meaning: "Go on where an interrupted run ended, in 16 MiB at most"
        ),
        CommandExample(
            arguments: [
                "warm", "cities.ndjson", "--cache", "cities", "--shared", "redis://10.0.0.1/?prefix=shop", "--key",
                "geonameid", "--type", "atlas.City", "--schema", "2",
            ],
            meaning: "Warm the cache that machines share on a server"
        ),
    ]

    @Operand("SOURCE", help: "One JSON object per line, a JSON array, or CSV with a header; - is standard input")
    var source: String
    let cache = SharedCacheOptions()
    @Option(
        required: "key",
        value: "FIELD",
        help: "Field whose value, a string or a whole number, becomes the key",
        parse: ArgumentText.nonEmpty("the name of a field")
    )
    var keyField: String
    @Option(
        "type",
        value: "NAME",
        help: "Swift type that the app will fetch, with its module: atlas.City",
        standard: "a dictionary",
        parse: ArgumentText.nonEmpty("the name of a Swift type")
    )
    var typeName: String?
    @Option(
        "fields",
        value: "LIST",
        help: "Fields to save and their types, as in name:string,area:double? (types: "
            + FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            + "; with ? the field may be missing)",
        standard: "every field, as the source types it; columns of CSV are strings",
        parse: FieldList.init(parsing:)
    )
    var fields: FieldList?
    @Option(
        "ttl",
        value: "TIME",
        help: "Time after which the records expire: 30s, 10m, 12h, 7d or 2w",
        standard: "never",
        parse: TimeToLive.init(parsing:)
    )
    var timeToLive: TimeToLive?
    @Option(
        "tag",
        value: "NAME",
        help: "Tag the records, so that the app can remove all of them at once",
        parse: ArgumentText.tag
    )
    var tag: String?
    @Option(
        "limit",
        value: "N",
        help: "Stop after N records have been saved",
        standard: "all records",
        parse: ArgumentText.count
    )
    var limit: Int?
    @Option(
        "max-size",
        value: "SIZE",
        help: "Most bytes of entries on disk (not index, journal), 1K or more, as in 64M; the least useful give "
            + "way",
        standard: "no limit",
        parse: SizeLimit.ofEntries
    )
    var maxSize: SizeLimit?
    let storage = LayoutOptions()
    @Flag("resume", help: "Skip keys that have an entry already, as after an interruption") var resumes: Bool
    @Option(
        "format",
        value: "FORMAT",
        help: "Format of the source: ndjson, json or csv",
        standard: "by its extension, then by its first character",
        parse: ArgumentText.word(["ndjson": .ndjson, "json": .json, "csv": .csv])
    )
    var format: RecordFormat?
    @Option(
        "delimiter",
        value: "CHARACTER",
        help: "Separator of the columns of CSV: one character, or tab",
        standard: "a tab for .tsv, else a comma",
        parse: CSVDelimiter.init(parsing:)
    )
    var delimiter: CSVDelimiter?
    @Flag(
        "dry-run",
        help: "Read and check every record, but save nothing; ignores --max-size"
    )
    var isDryRun: Bool
    @Flag("skip-invalid", help: "Succeed even if some records had to be skipped") var skipsInvalid: Bool
    @Flag(
        "print-keys",
        help: "Print each key, escaped, on its own line once it has been saved (with --dry-run: checked)"
    )
    var printsKeys: Bool
    @Flag("quiet", help: "Show neither progress nor summary") var isQuiet: Bool
    @Flag(.json) var writesJSON: Bool

    var location: SourceLocation { SourceLocation(source) }

    func validate() throws(ArgumentError) {
        if let format, format != .csv, delimiter != nil {
            throw Self.failure(.conflictingOptions("--format", "--delimiter"))
        }
        if printsKeys, writesJSON { throw Self.failure(.conflictingOptions("--print-keys", "--json")) }
        // A server has limits of its own.
        if maxSize != nil { try cache.refuseShared(beside: "--max-size", Self.self) }
        if storage.layout != nil { try cache.refuseShared(beside: "--layout", Self.self) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        var (source, size) = try openSource(environment, interruption)
        let content = try RecordContent(typeName: typeName, timeToLive: timeToLive, tag: tag)
        if let typeName, !SwiftTypeName.isComplete(typeName) {
            environment.errors.report(
                "'\(EscapedText(typeName, limit: 80))' is not a Swift type with its module, as atlas.City is; a fetch of "
                    + "another type throws .typeMismatch"
            )
        }
        try storage.check(cache.selection(), in: environment.backend)
        let sink = try sink(for: content, in: environment.backend)
        let warmer = Warmer(
            key: RecordKey(field: keyField),
            limit: limit ?? .max,
            saver: BatchSaver(fields: fields, resumes: resumes, sink: sink, interruption: interruption),
            now: environment.now
        )
        var reporter = WarmReporter(
            output: environment.output,
            errors: environment.errors,
            printsKeys: printsKeys,
            isQuiet: isQuiet
        )
        let result = warmer.run(&source, size: size, observer: &reporter)
        reporter.finish()
        try sink.close()
        return try conclude(result, evicted: sink.evictedCount, environment)
    }

    private func sink(for content: RecordContent, in backend: any CacheBackend) throws -> any RecordSink {
        if isDryRun { return backend.checkingSink(for: content) }
        let selection = try cache.selection()
        let disk = storage.disk(byteLimit: maxSize)
        if try backend.mayHave(selection) { return try backend.sink(for: selection, disk: disk, content: content) }
        return DeferredSink { try backend.sink(for: selection, disk: disk, content: content) }
    }

    private func openSource(
        _ environment: CommandEnvironment,
        _ interruption: any Interruption
    ) throws -> (any RecordSource, size: Int?) {
        do throws(SourceError) {
            let input = try environment.openInput(location, interruption)
            let source = try RecordSources.open(input, at: location, format: format, delimiter: delimiter)
            if let columns = source.columns, !columns.contains(keyField) {
                throw SourceError.missingKeyColumn(name: keyField, columns: columns)
            }
            return (source, input.size)
        } catch .interrupted {
            return (EmptySource(), nil)
        } catch {
            throw CommandFailure.source(error, location)
        }
    }

    /// Shows the failure, if there is one, and the summary; returns how the process ends.
    private func conclude(
        _ result: WarmResult,
        evicted: Int,
        _ environment: CommandEnvironment
    ) throws -> ExitStatus {
        var summary = result.summary
        summary.evicted = evicted
        if let failure = result.failure {
            let error = (failure as? SourceError).map { CommandFailure.source($0, location) } ?? failure
            environment.errors.report(CommandFailureMessage(error))
        }
        if writesJSON {
            try environment.printToReader { try environment.write(summary.json(isDryRun: isDryRun)) }
        } else if !isQuiet {
            environment.errors.write(summary.prose(isDryRun: isDryRun) + "\n")
        }
        if result.failure != nil { return .failure }
        if let signal = summary.signal { return .signal(signal) }
        return summary.invalid > 0 && !skipsInvalid ? .failure : .success
    }
}

/// Tells people and programs of the events while a cache is warmed.
struct WarmReporter: WarmObserver {
    /// How many bad records are told one by one.
    static let longestList = 20
    private static let flushInterval = Duration.milliseconds(100)

    /// Where keys are printed; `nil` if none are, or their reader has gone: the saving goes on without.
    private var keyOutput: (any TextOutput)?
    private let errors: any ErrorOutput
    private var bar: ProgressBar
    private var skippedCount = 0
    private var lastFlush = Duration.zero

    init(output: any TextOutput, errors: any ErrorOutput, printsKeys: Bool, isQuiet: Bool) {
        keyOutput = printsKeys ? output : nil
        self.errors = errors
        bar = ProgressBar(on: errors, isEnabled: !isQuiet)
    }

    mutating func saved(_ key: String) throws(OutputError) {
        try printKeys { output throws(OutputError) in try output.write("\(EscapedText(key))\n") }
    }

    mutating func skipped(_ badRecord: BadRecord) {
        skippedCount += 1
        guard skippedCount <= Self.longestList + 1 else { return }
        bar.erase()
        if skippedCount <= Self.longestList {
            errors.report(BadRecordMessage(badRecord))
        } else {
            errors.report("further bad records are counted only")
        }
    }

    mutating func waiting() throws(OutputError) {
        try printKeys { output throws(OutputError) in try output.flush() }
    }

    mutating func advanced(_ progress: Progress) throws(OutputError) {
        bar.update(progress)
        if progress.elapsed - lastFlush >= Self.flushInterval {
            lastFlush = progress.elapsed
            try printKeys { output throws(OutputError) in try output.flush() }
        }
    }

    private mutating func printKeys(
        _ body: (any TextOutput) throws(OutputError) -> Void
    ) throws(OutputError) {
        guard let keyOutput else { return }
        do throws(OutputError) {
            try body(keyOutput)
        } catch {
            guard error == .closed else { throw error }
            self.keyOutput = nil
        }
    }

    /// Takes the progress bar away.
    mutating func finish() {
        bar.erase()
    }
}

/// Tells people and programs of the events while a cache is warmed.
struct WarmReporter: WarmObserver {
    /// How many bad records are told one by one.
    static let longestList = 20
    private static let flushInterval = Duration.milliseconds(100)

    private let output: any TextOutput
    private let errors: any ErrorOutput
    private let printsKeys: Bool
    private var bar: ProgressBar
    private var skippedCount = 0
    private var lastFlush = Duration.zero

    init(output: any TextOutput, errors: any ErrorOutput, printsKeys: Bool, isQuiet: Bool) {
        self.output = output
        self.errors = errors
        self.printsKeys = printsKeys
        bar = ProgressBar(on: errors, isEnabled: !isQuiet)
    }

    mutating func saved(_ key: String) throws(OutputError) {
        if printsKeys { try output.write("\(SafeText(key))\n") }
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
        if printsKeys { try output.flush() }
    }

    mutating func advanced(_ progress: Progress) throws(OutputError) {
        bar.update(progress)
        if printsKeys, progress.elapsed - lastFlush >= Self.flushInterval {
            lastFlush = progress.elapsed
            try output.flush()
        }
    }

    /// Takes the progress bar away.
    mutating func finish() {
        bar.erase()
    }
}

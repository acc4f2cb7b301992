import Foundation

/// Everything outside the process that a command touches.
struct CommandEnvironment {
    let output: any TextOutput
    let errors: any ErrorOutput
    let backend: any CacheBackend
    /// Asks a person whether to go on; `nil` if there is no person to ask.
    let confirm: ((String) -> Bool)?
    /// The time since some moment in the past.
    let now: () -> Duration
    /// The moment by which entries have expired.
    var date: () -> Date = { .now }
    /// Takes hold of the terminal, to draw on all of it; `nil` if there is none. Watches for signals from then on.
    var openTerminal: () -> (any ScreenTerminal)? = { nil }
    /// The columns of the terminal that standard output is; `nil` if it is not one.
    var columns: Int?
    /// Begins to watch for signals.
    let trapSignals: () -> any Interruption
    /// Opens the input from which records are read.
    let openInput: (SourceLocation, any Interruption) throws(SourceError) -> any ByteInput

    /// The process's own: standard input, output and error, its signals and its clock.
    static func process(backend: any CacheBackend) -> CommandEnvironment {
        occupyClosedDescriptors()
        let errors = StandardError()
        let clock = ContinuousClock()
        let start = clock.now
        return CommandEnvironment(
            output: StandardOutput(),
            errors: errors,
            backend: backend,
            confirm: isatty(STDIN_FILENO) == 1 ? { ask($0, on: errors) } : nil,
            now: { clock.now - start },
            openTerminal: { ProcessTerminal(variables: ProcessInfo.processInfo.environment) },
            columns: columns(ProcessInfo.processInfo.environment),
            trapSignals: { SignalTrap() },
            openInput: { location, interruption throws(SourceError) in
                try FileInput(location, interruption: interruption)
            }
        )
    }

    /// Keeps the numbers of standard input, output and error from files that are opened later, if the process was
    /// started without them: the output would go into one of a cache's files.
    private static func occupyClosedDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number. Reading and writing fail with EBADF, as they did before.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes the result of a command: one line of JSON for programs, prose for people.
    func write(_ json: Record, orProse prose: @autoclosure () -> String, asJSON: Bool) throws(OutputError) {
        if asJSON { try write(json) } else { try output.write(prose() + "\n") }
    }

    /// Has `body` work on one file after another, until a signal comes; one that fails is reported, and the others go on.
    ///
    /// - Returns: `.failure` if one has failed.
    /// - Throws: `OutputError`, which no other file would fare better with; ``CommandFailure/interrupted(signal:)``.
    func forEachDocument(
        _ paths: [String],
        _ body: (String, any Interruption) throws -> Void
    ) throws -> ExitStatus {
        let interruption = trapSignals()
        var status = ExitStatus.success
        for path in paths where interruption.signal == nil {
            do {
                try body(path, interruption)
            } catch let error as OutputError {
                throw error
            } catch let error as CommandFailure where error.isInterruption {
                throw error
            } catch {
                errors.report(CommandFailureMessage(error))
                status = .failure
            }
        }
        return interruption.signal.map(ExitStatus.signal) ?? status
    }

    /// Has `body` print, until the reader has seen enough: for commands that tell a result by their exit code, too.
    func printToReader(_ body: () throws -> Void) throws {
        do { try body() } catch OutputError.closed {}
    }

    /// Writes one line of JSON.
    func write(_ json: Record) throws(OutputError) {
        try JSONWriter.write(.object(json), isIndented: false, to: output)
    }

    /// Those of the variable COLUMNS, which a user may set, before those of the terminal.
    private static func columns(_ variables: [String: String]) -> Int? {
        if let columns = variables["COLUMNS"].flatMap(Int.init), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    private static func ask(_ question: String, on errors: StandardError) -> Bool {
        errors.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

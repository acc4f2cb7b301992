import Foundation

/// Parses a command line, runs it, and maps errors to an exit status.
package struct CommandLineTool {
    /// The version that `--version` shows.
    static let version = "0.1.0"

    private let environment: CommandEnvironment

    package init(_ environment: CommandEnvironment) {
        self.environment = environment
    }

    /// Runs `arguments`, the command's own name left out.
    package func run(_ arguments: [String]) -> ExitStatus {
        do {
            let status = try Command(arguments).run(in: environment)
            try environment.output.flush()
            return status
        } catch OutputError.closed {
            return .success
        } catch let error as ArgumentError {
            environment.errors.report(ArgumentErrorMessage(error))
            return .usage
        } catch CommandFailure.unconfirmed {
            environment.errors.report(CommandFailureMessage(CommandFailure.unconfirmed))
            return .usage
        } catch {
            environment.errors.report(CommandFailureMessage(error))
            return .failure
        }
    }
}

/// Everything outside the process that a command touches.
package struct CommandEnvironment {
    let output: any TextOutput
    let errors: any ErrorOutput
    let backend: any CacheBackend
    /// Asks a person whether to go on; `nil` if there is no person to ask.
    let confirm: ((String) -> Bool)?
    /// The time since some moment in the past.
    let now: () -> Duration
    /// The moment by which entries have expired.
    var date: () -> Date = { .now }
    /// Begins to watch for signals.
    let trapSignals: () -> any Interruption
    /// Opens the input from which records are read.
    let openInput: (SourceLocation, any Interruption) throws(SourceError) -> any ByteInput

    /// The process's own: standard input, output and error, its signals and its clock.
    package static func process(backend: any CacheBackend) -> CommandEnvironment {
        let errors = StandardError()
        let clock = ContinuousClock()
        let start = clock.now
        return CommandEnvironment(
            output: StandardOutput(),
            errors: errors,
            backend: backend,
            confirm: isatty(STDIN_FILENO) == 1 ? { ask($0, on: errors) } : nil,
            now: { clock.now - start },
            trapSignals: { SignalTrap() },
            openInput: { location, interruption throws(SourceError) in
                try FileInput(location, interruption: interruption)
            }
        )
    }

    /// Writes the result of a command: one line of JSON for programs, prose for people.
    func write(_ json: Record, orProse prose: @autoclosure () -> String, asJSON: Bool) throws(OutputError) {
        if asJSON {
            try JSONWriter.write(.object(json), isIndented: false, to: output)
        } else {
            try output.write(prose() + "\n")
        }
    }

    private static func ask(_ question: String, on errors: StandardError) -> Bool {
        errors.write("\(question) [y/N] ")
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

/// How the process ends.
package enum ExitStatus: Sendable, Equatable {
    case success
    case failure
    case usage
    /// By the signal that interrupted it, so that the process that started it sees why.
    case signal(Int32)

    /// Ends the process.
    package func endProcess() -> Never {
        switch self {
        case .success: exit(0)
        case .failure: exit(1)
        case .usage: exit(2)
        case .signal(let number):
            Foundation.signal(number, SIG_DFL)
            raise(number)
            exit(128 + number)
        }
    }
}

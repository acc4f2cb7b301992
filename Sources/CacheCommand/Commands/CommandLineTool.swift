import Foundation

/// Parses a command line, runs it, and maps errors to an exit status.
package struct CommandLineTool {
    /// The version that `--version` shows.
    static let version = "0.1.0"
    /// The day of the version, which manual pages show.
    static let released = "2026-11-23"

    private let environment: CommandEnvironment

    init(_ environment: CommandEnvironment) {
        self.environment = environment
    }

    /// Runs the process's arguments, and ends it.
    package static func runProcess() -> Never {
        let tool = CommandLineTool(.process(backend: TypedCacheBackend()))
        let arguments: [String]
        do throws(ArgumentError) {
            arguments = try processArguments()
        } catch {
            tool.environment.errors.report(ArgumentErrorMessage(error))
            ExitStatus.usage.endProcess()
        }
        tool.run(arguments).endProcess()
    }

    /// The process's arguments, the command's own name left out.
    ///
    /// `CommandLine.arguments` repairs bytes that are not UTF-8: they would name another key or file than the one meant.
    private static func processArguments() throws(ArgumentError) -> [String] {
        var arguments: [String] = []
        for position in 0..<Int(CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[position] else { break }
            guard let argument = String(validatingCString: bytes) else {
                throw ArgumentError(fact: .notUTF8(position: position))
            }
            arguments.append(argument)
        }
        return Array(arguments.dropFirst())
    }

    /// Runs `arguments`, the command's own name left out.
    func run(_ arguments: [String]) -> ExitStatus {
        let command: Command
        do throws(ArgumentError) {
            command = try Command(arguments)
        } catch {
            environment.errors.report(ArgumentErrorMessage(error))
            return .usage
        }
        var told: OutputError?
        let status = perform(command, telling: &told)
        do throws(OutputError) {
            // After a failure, too: results before it are whole.
            try environment.output.flush()
        } catch {
            guard error != .closed, error != told else { return status }
            environment.errors.report(CommandFailureMessage(error))
            return status == .success || status == .failure ? command.failureStatus : status
        }
        return status
    }

    /// - Parameter told: gets the error of an output that ended the command, and was reported.
    private func perform(_ command: Command, telling told: inout OutputError?) -> ExitStatus {
        do {
            return try command.run(in: environment)
        } catch OutputError.closed {
            return .success
        } catch CommandFailure.interrupted(let signal) {
            return .signal(signal)
        } catch let error as ArgumentError {
            environment.errors.report(ArgumentErrorMessage(error))
            return .usage
        } catch let failure as CommandFailure where failure.isUsage {
            environment.errors.report(CommandFailureMessage(failure))
            return .usage
        } catch {
            told = error as? OutputError
            environment.errors.report(CommandFailureMessage(error))
            return command.failureStatus
        }
    }
}

/// How the process ends.
enum ExitStatus: Sendable, Equatable {
    case success
    case failure
    case usage
    /// A comparison could not be made, where a difference is a ``failure``.
    case trouble
    /// By the signal that interrupted it, so that the process that started it sees why.
    case signal(Int32)

    /// The meanings of exit codes, unless a subcommand has others.
    static let meanings: KeyValuePairs = [
        0: "Done.", 1: "Failed. Standard error tells why.", 2: "The command line was not understood.",
    ]

    /// Ends the process.
    func endProcess() -> Never {
        switch self {
        case .success: exit(0)
        case .failure: exit(1)
        case .usage, .trouble: exit(2)
        case .signal(let number):
            Foundation.signal(number, SIG_DFL)
            raise(number)
            exit(128 + number)
        }
    }
}

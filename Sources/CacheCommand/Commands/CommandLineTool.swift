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
        let status = perform(arguments)
        do throws(OutputError) {
            // After a failure, too: results before it are whole.
            try environment.output.flush()
        } catch {
            guard error != .closed, status == .success else { return status }
            environment.errors.report(CommandFailureMessage(error))
            return .failure
        }
        return status
    }

    private func perform(_ arguments: [String]) -> ExitStatus {
        do {
            return try Command(arguments).run(in: environment)
        } catch OutputError.closed {
            return .success
        } catch CommandFailure.interrupted(let signal) {
            return .signal(signal)
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

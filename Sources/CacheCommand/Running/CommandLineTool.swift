/// Parses a command line, runs it, and maps errors to an exit status.
package struct CommandLineTool {
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

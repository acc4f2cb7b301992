/// Writes the sentence for a command that could not be done, and what to do about it.
struct CommandFailureMessage: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        switch error {
        case CommandFailure.source(let error, let location):
            description = SourceErrorMessage(error: error, location: location).description
        case CommandFailure.noEntry(let key):
            description = "no entry for '\(SafeText(key, limit: 200))'; see typed-cache list"
        case CommandFailure.unconfirmed:
            description =
                "clear asks first, and standard input is no terminal; give --yes to clear without asking"
        case CommandFailure.unavailable:
            description = "this build of the command has no cache to work on"
        case OutputError.failed(let errno):
            description = "standard output cannot be written: \(SystemMessage(errno))"
        default:
            description = SafeText("\(error)", limit: 1_000).description
        }
    }
}

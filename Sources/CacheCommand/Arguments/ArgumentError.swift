/// Why a command line cannot be understood: facts alone, the sentence is `ArgumentErrorMessage`'s.
struct ArgumentError: Error, Sendable, Equatable {
    enum Fact: Sendable, Equatable {
        case missingSubcommand
        case unknownSubcommand(String, suggestion: String?)
        case unknownOption(String, suggestion: String?)
        /// The option was the last argument, or another option followed.
        case missingValue(option: String, placeholder: String)
        case unexpectedValue(option: String)
        case repeatedOption(String)
        case badValue(option: String, InvalidValue)
        case missingOption(String)
        case conflictingOptions(String, String)
        case missingOperand(String)
        case unexpectedOperand(String)
    }

    let fact: Fact
    /// `nil` if the command line did not come to one.
    var subcommand: Subcommand?
}

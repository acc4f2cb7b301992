/// A command line that works, for help; the tests parse every one.
struct CommandExample: Sendable, Equatable {
    /// What follows the command's name, one string per argument.
    let arguments: [String]
    let meaning: String
}

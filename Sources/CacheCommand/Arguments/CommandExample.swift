/// A command line that works, for help; the tests parse every one.
struct CommandExample: Sendable, Equatable {
    /// The arguments after the command's name, one string each.
    let arguments: [String]
    let meaning: String
}

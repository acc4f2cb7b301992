/// All that one subcommand accepts. The parser takes nothing else, and help shows nothing else.
struct CommandDeclaration: Sendable {
    let subcommand: Subcommand
    /// One sentence without its period, for the list of subcommands.
    let summary: String
    /// More about it, if one sentence is not enough.
    var discussion: String?
    var operand: OperandDeclaration?
    let options: [OptionDeclaration]
    /// Options of which at most one may be given.
    var exclusive: [OptionDeclaration] = []
    let examples: [CommandExample]

    /// Every option, the ones that all subcommands have included.
    var allOptions: [OptionDeclaration] { options + [Options.help] }
}

/// `help`: explains the command or one of its subcommands.
struct Help: Subcommand {
    static let name = "help"
    static let summary = "Show what the command or one of its subcommands does"
    static let examples = [CommandExample(arguments: ["help", "warm"], meaning: "Explain warm")]

    @Operand("SUBCOMMAND", help: "The subcommand to explain") var topic: String?

    func validate() throws(ArgumentError) { _ = try subcommand() }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        try environment.output.write(HelpText(subcommand()).description)
        return .success
    }

    private func subcommand() throws(ArgumentError) -> (any Subcommand.Type)? {
        guard let topic else { return nil }
        return try Command.subcommand(named: topic)
    }
}

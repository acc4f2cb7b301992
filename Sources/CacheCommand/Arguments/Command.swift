/// A command line that has been understood; nothing has been done yet.
enum Command {
    case run(any Subcommand)
    /// Help of a subcommand; `nil` is the command as a whole.
    case help((any Subcommand.Type)?)
    case version

    /// In the order in which help lists them.
    static var subcommands: [any Subcommand.Type] {
        [
            Warm.self, Caches.self, List.self, Get.self, Cat.self, Diff.self, Stats.self, Top.self, Report.self,
            Advise.self,
            Verify.self,
            Export.self, Import.self, Remove.self, Trim.self, Compact.self, Rekey.self, Clear.self, Dump.self,
            Convert.self,
            Lint.self, Completions.self, Manual.self, Help.self, Complete.self,
        ]
    }

    /// Those that help, manual and completions list.
    static var listedSubcommands: [any Subcommand.Type] { subcommands.filter { !$0.isHidden } }

    /// The names of the subcommands that also work on servers, in words.
    static var namesOfSharing: String {
        let names = listedSubcommands.filter { type in
            DeclaredArguments(of: type.init()).options.contains { $0.declaration.name == "shared" }
        }.map { $0.name }
        return "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
    }

    /// The options that stand alone, without a subcommand.
    static let helpOption = OptionDeclaration(name: "help", letter: "h", help: "Show this help and do nothing else")
    static let versionOption = OptionDeclaration(name: "version", help: "Show the version and do nothing else")

    /// Parses the arguments that follow the command's own name.
    init(_ arguments: [String]) throws(ArgumentError) {
        guard let first = arguments.first else { throw ArgumentError(fact: .missingSubcommand) }
        switch first {
        case "--help", "-h":
            self = .help(nil)
        case "--version":
            self = .version
        default:
            let type = try Self.subcommand(named: first)
            let subcommand = type.init()
            if try ArgumentParser(subcommand).asksForHelp(afterParsing: arguments.dropFirst()) {
                self = .help(type)
            } else {
                try subcommand.validate()
                self = .run(subcommand)
            }
        }
    }

    /// Finds a subcommand by its name.
    static func subcommand(named name: String) throws(ArgumentError) -> any Subcommand.Type {
        if let subcommand = subcommands.first(where: { $0.name == name }) { return subcommand }
        guard !name.hasPrefix("-") else {
            let nearest = Suggestion.nearest(to: name, among: [helpOption.spelling, versionOption.spelling])
            throw ArgumentError(fact: .unknownOption(name, suggestion: nearest))
        }
        let nearest = Suggestion.nearest(to: name, among: listedSubcommands.map { $0.name })
        throw ArgumentError(fact: .unknownSubcommand(name, suggestion: nearest))
    }

    /// How the process ends where the work cannot be done.
    var failureStatus: ExitStatus {
        if case .run(let subcommand) = self { type(of: subcommand).failureStatus } else { .failure }
    }

    /// Does the work.
    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        switch self {
        case .run(let subcommand):
            return try subcommand.run(in: environment)
        case .help(let subcommand):
            try environment.output.write(HelpText(subcommand, columns: environment.columns).description)
        case .version:
            try environment.output.write("typed-cache \(CommandLineTool.version)\n")
        }
        return .success
    }
}

/// A command line that has been understood; nothing has been done yet.
package enum Command: Sendable, Equatable {
    case warm(WarmOptions)
    case list(ListOptions)
    case get(KeyOptions)
    case stats(StatsOptions)
    case verify(VerifyOptions)
    case export(ExportOptions)
    case `import`(ImportOptions)
    case remove(KeyOptions)
    case trim(TrimOptions)
    case compact(CompactOptions)
    case clear(ClearOptions)
    case dump(DumpOptions)
    /// The text to show.
    case help(HelpText)
    case version

    /// Parses the arguments that follow the command's own name.
    init(_ arguments: [String]) throws(ArgumentError) {
        guard let first = arguments.first else { throw ArgumentError(fact: .missingSubcommand) }
        switch first {
        case "--help", "-h":
            self = .help(HelpText(subcommand: nil))
        case "--version":
            self = .version
        default:
            let subcommand = try Self.subcommand(first)
            try self.init(ParsedArguments(subcommand, arguments.dropFirst()))
        }
    }

    private init(_ arguments: ParsedArguments) throws(ArgumentError) {
        guard !arguments.has(Options.help) else {
            self = .help(HelpText(subcommand: arguments.subcommand))
            return
        }
        switch arguments.subcommand {
        case .warm: self = .warm(try WarmOptions(arguments))
        case .list: self = .list(try ListOptions(arguments))
        case .get: self = .get(try KeyOptions(arguments))
        case .stats: self = .stats(try StatsOptions(arguments))
        case .verify: self = .verify(try VerifyOptions(arguments))
        case .export: self = .export(try ExportOptions(arguments))
        case .import: self = .import(try ImportOptions(arguments))
        case .remove: self = .remove(try KeyOptions(arguments))
        case .trim: self = .trim(try TrimOptions(arguments))
        case .compact: self = .compact(try CompactOptions(arguments))
        case .clear: self = .clear(try ClearOptions(arguments))
        case .dump: self = .dump(try DumpOptions(arguments))
        case .help:
            let topic = arguments.operands.first
            self = .help(HelpText(subcommand: try topic.map(Self.subcommand)))
        }
    }

    private static func subcommand(_ name: String) throws(ArgumentError) -> Subcommand {
        if let subcommand = Subcommand(rawValue: name) { return subcommand }
        guard !name.hasPrefix("-") else {
            let options = [Options.help.spelling, Options.version.spelling]
            let nearest = Suggestion.nearest(to: name, among: options)
            throw ArgumentError(fact: .unknownOption(name, suggestion: nearest))
        }
        let nearest = Suggestion.nearest(to: name, among: Subcommand.allCases.map(\.rawValue))
        throw ArgumentError(fact: .unknownSubcommand(name, suggestion: nearest))
    }
}

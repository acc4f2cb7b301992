extension Subcommand {
    static let selection = [Options.cache.declaration] + location
    static let location = [Options.root.declaration, Options.app.declaration]

    /// The operand and the options that it accepts.
    var declaration: CommandDeclaration {
        switch self {
        case .warm: Self.warmDeclaration
        case .list: Self.listDeclaration
        case .get: Self.getDeclaration
        case .stats: Self.statsDeclaration
        case .verify: Self.verifyDeclaration
        case .export: Self.exportDeclaration
        case .import: Self.importDeclaration
        case .remove: Self.removeDeclaration
        case .trim: Self.trimDeclaration
        case .compact: Self.compactDeclaration
        case .clear: Self.clearDeclaration
        case .dump: Self.dumpDeclaration
        case .help: Self.helpDeclaration
        }
    }

    private static let warmDeclaration = CommandDeclaration(
        subcommand: .warm,
        summary: "Save records from a file or from standard input into a cache",
        discussion:
            "A record that cannot be taken is reported with its line and skipped; the exit code is then 1. "
            + "Nulls are kept: an optional reads them as nil. A whole number of more than 64 bits is refused. "
            + "Ctrl-C stops; what has been saved stays saved, and --resume goes on from there.",
        operand: OperandDeclaration(
            placeholder: "SOURCE",
            arity: .one,
            meaning: "One JSON object per line, a JSON array, or CSV with a header; - is standard input"
        ),
        options: selection + [
            Options.key.declaration, Options.type.declaration, Options.fields.declaration,
            Options.ttl.declaration, Options.tag.declaration, Options.limit.declaration,
            Options.maxSize.declaration, Options.layout.declaration, Options.resume, Options.format.declaration,
            Options.dryRun,
            Options.skipInvalid, Options.printKeys, Options.quiet, Options.json,
        ],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: [
                    "warm", "cities.ndjson", "--cache", "cities", "--key", "geonameid", "--type",
                    "atlas.City",
                    "--ttl", "7d",
                ],
                meaning: "Save a city per line for a week"
            ),
            CommandExample(
                arguments: [
                    "warm", "-", "--format", "csv", "--cache", "prices", "--app", "Shop", "--key", "sku",
                    "--fields", "sku:string,price:double,until:date?",
                ],
                meaning: "Save typed columns from a pipe"
            ),
            CommandExample(
                arguments: [
                    "warm", "cities.ndjson", "--cache", "cities", "--key", "geonameid", "--resume", "--max-size",
                    "16M",
                ],
                meaning: "Go on where an interrupted run ended, in 16 MiB at most"
            ),
        ]
    )

    private static let statsDeclaration = CommandDeclaration(
        subcommand: .stats,
        summary: "Print how much a cache holds",
        options: selection + [Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["stats", "--cache", "cities", "--json"],
                meaning: "Feed a monitor"
            )
        ]
    )

    private static let trimDeclaration = CommandDeclaration(
        subcommand: .trim,
        summary: "Give up entries of a cache until it is small enough",
        discussion: "Entries that have expired go first, then the least useful ones.",
        options: selection + [Options.trimSize.declaration, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["trim", "--cache", "cities", "--max-size", "8M"],
                meaning: "Leave 8 MiB at most"
            )
        ]
    )

    private static let clearDeclaration = CommandDeclaration(
        subcommand: .clear,
        summary: "Remove all entries of a cache",
        discussion: "Asks first; where nobody can be asked it needs --yes.",
        options: selection + [Options.yes, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["clear", "--cache", "cities", "--yes"],
                meaning: "Empty the cache from a script"
            )
        ]
    )

    private static let helpDeclaration = CommandDeclaration(
        subcommand: .help,
        summary: "Show what the command or one of its subcommands does",
        operand: OperandDeclaration(
            placeholder: "SUBCOMMAND",
            arity: .optional,
            meaning: "The subcommand to explain"
        ),
        options: [],
        examples: [CommandExample(arguments: ["help", "warm"], meaning: "Explain warm")]
    )
}

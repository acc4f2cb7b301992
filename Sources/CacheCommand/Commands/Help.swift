/// `help`: explains the command or one of its subcommands.
struct Help: Subcommand {
    static let name = "help"
    static let summary = "Explain the command or one of its subcommands"
    static let examples = [CommandExample(arguments: ["help", "warm"], meaning: "Explain warm")]

    @Operand("SUBCOMMAND", help: "The subcommand to explain") var topic: String?

    func validate() throws(ArgumentError) { _ = try subcommand() }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        try environment.output.write(HelpText(subcommand(), columns: environment.columns).description)
        return .success
    }

    private func subcommand() throws(ArgumentError) -> (any Subcommand.Type)? {
        guard let topic else { return nil }
        return try Command.subcommand(named: topic)
    }
}

/// The help of the command, or of one of its subcommands; written from the declarations.
struct HelpText: CustomStringConvertible {
    private let subcommand: (any Subcommand.Type)?
    private let width: Int

    /// - Parameters:
    ///   - subcommand: `nil` is the command as a whole.
    ///   - columns: the terminal's; `nil` if there is none. Lines have no more than 80.
    init(_ subcommand: (any Subcommand.Type)?, columns: Int? = nil) {
        self.subcommand = subcommand
        width = min(80, columns ?? 80)
    }

    var description: String { subcommand.map { text(of: $0) } ?? overview }

    private var overview: String {
        let subcommands = Command.listedSubcommands.map { ($0.name, $0.summary) }
        let options = [Command.helpOption, Command.versionOption].map { ($0.form, $0.help) }
        let codes =
            "Exit codes: 0 done, 1 failed, 2 not understood; of diff: 0 no difference, 1 a difference, 2 failed or "
            + "not understood."
        return """
            \(wrapped("Fills, shows, checks, moves and trims typed caches.", indent: 0))

            usage: typed-cache SUBCOMMAND …

            subcommands:
            \(columns(subcommands))

            options:
            \(columns(options))

            \(wrapped(codes, indent: 0))
            \(wrapped("typed-cache help SUBCOMMAND tells more about each.", indent: 0))

            """
    }

    private func text(of subcommand: any Subcommand.Type) -> String {
        let declared = DeclaredArguments(of: subcommand.init())
        var parts = [wrapped(subcommand.summary + ".", indent: 0)]
        if let discussion = subcommand.discussion { parts[0] += "\n" + wrapped(discussion, indent: 0) }
        parts.append(usage(of: subcommand.name, declared))
        if let operand = declared.operand?.declaration {
            parts.append(columns([(operand.placeholder, operand.help)]))
        }
        parts.append("options:\n" + columns(declared.allOptions.map { row(of: $0.declaration) }))
        let examples = subcommand.examples.map { example in
            "  # \(example.meaning)\n  typed-cache \(example.text)"
        }
        parts.append("\(examples.count == 1 ? "example" : "examples"):\n" + examples.joined(separator: "\n"))
        return parts.joined(separator: "\n\n") + "\n"
    }

    private func usage(of name: String, _ declared: DeclaredArguments) -> String {
        var words = ["typed-cache", name]
        if let operand = declared.operand?.declaration { words.append(operand.form) }
        words += declared.options.map(\.declaration).filter(\.isRequired).map(\.form)
        for choice in declared.choices {
            words.append("[\(choice.map(\.declaration.form).joined(separator: " | "))]")
        }
        return wrapped(pieces: ["usage:"] + words, indent: 7)
    }

    private func row(of option: OptionDeclaration) -> (form: String, meaning: String) {
        let form = option.form + (option.letter.map { ", -\($0)" } ?? "")
        if option.isRequired { return (form, option.help + " (required)") }
        return (form, option.help + (option.standard.map { " (default: \($0))" } ?? ""))
    }

    private func columns(_ rows: [(String, String)]) -> String {
        let widest = rows.map(\.0.count).max() ?? 0
        // A narrow terminal has no room for a second column.
        let isNarrow = widest + 4 > width / 2
        let indent = isNarrow ? 6 : widest + 4
        return rows.map { name, meaning in
            let gap =
                isNarrow
                ? "\n" + String(repeating: " ", count: indent)
                : String(repeating: " ", count: widest - name.count + 2)
            return "  " + name + gap + wrapped(meaning, indent: indent)
        }.joined(separator: "\n")
    }

    /// Breaks `text` into lines, all but the first indented; the first is taken to begin at the indent.
    private func wrapped(_ text: String, indent: Int) -> String {
        wrapped(pieces: text.split(separator: " ").map(String.init), indent: indent, column: indent)
    }

    private func wrapped(pieces: [String], indent: Int, column start: Int = 0) -> String {
        var text = ""
        var column = start
        for (index, piece) in pieces.enumerated() {
            if index > 0, column + 1 + piece.count > width {
                text += "\n" + String(repeating: " ", count: indent)
                column = indent
            } else if index > 0 {
                text += " "
                column += 1
            }
            text += piece
            column += piece.count
        }
        return text
    }
}

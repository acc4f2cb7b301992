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

/// The help of the command, or of one of its subcommands; written from the declarations.
struct HelpText: CustomStringConvertible {
    let description: String

    private static let width = 80

    /// - Parameter subcommand: `nil` is the command as a whole.
    init(_ subcommand: (any Subcommand.Type)?) {
        description = subcommand.map { Self.text(of: $0) } ?? Self.overview
    }

    private static var overview: String {
        let subcommands = Command.listedSubcommands.map { ($0.name, $0.summary) }
        let options = [Command.helpOption, Command.versionOption].map { ($0.form, $0.help) }
        return """
            Fills, shows, checks, moves and trims typed caches.

            usage: typed-cache SUBCOMMAND …

            subcommands:
            \(columns(subcommands))

            options:
            \(columns(options))

            Exit codes: 0 done, 1 failed, 2 not understood.
            typed-cache help SUBCOMMAND tells more about each.

            """
    }

    private static func text(of subcommand: any Subcommand.Type) -> String {
        let declared = DeclaredArguments(of: subcommand.init())
        var parts = [wrapped(subcommand.summary + ".", indent: 0)]
        if let discussion = subcommand.discussion { parts[0] += "\n" + wrapped(discussion, indent: 0) }
        parts.append(usage(of: subcommand.name, declared))
        if let operand = declared.operand?.declaration {
            parts.append(columns([(operand.placeholder, operand.help)]))
        }
        parts.append("options:\n" + columns(declared.allOptions.map { row(of: $0.declaration) }))
        let examples = subcommand.examples.map { example in
            "  # \(example.meaning)\n  typed-cache \(example.arguments.joined(separator: " "))"
        }
        parts.append("\(examples.count == 1 ? "example" : "examples"):\n" + examples.joined(separator: "\n"))
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func usage(of name: String, _ declared: DeclaredArguments) -> String {
        var words = ["typed-cache", name]
        if let operand = declared.operand?.declaration { words.append(operand.form) }
        let options = declared.options.map(\.declaration)
        let exclusive = declared.exclusive.map(\.declaration)
        words += options.filter(\.isRequired).map(\.form)
        for option in options where !option.isRequired && !exclusive.dropFirst().contains(option) {
            let forms = exclusive.contains(option) ? exclusive.map(\.form) : [option.form]
            words.append("[\(forms.joined(separator: " | "))]")
        }
        return wrapped(pieces: ["usage:"] + words, indent: 7)
    }

    private static func row(of option: OptionDeclaration) -> (form: String, meaning: String) {
        let form = option.form + (option.letter.map { ", -\($0)" } ?? "")
        if option.isRequired { return (form, option.help + " (required)") }
        return (form, option.help + (option.standard.map { " (default: \($0))" } ?? ""))
    }

    private static func columns(_ rows: [(String, String)]) -> String {
        let widest = rows.map(\.0.count).max() ?? 0
        return rows.map { name, meaning in
            let gap = String(repeating: " ", count: widest - name.count + 2)
            let text = wrapped(meaning, indent: widest + 4)
            return "  " + name + gap + text
        }.joined(separator: "\n")
    }

    /// Breaks `text` into lines, all but the first indented; the first is taken to begin at the indent.
    private static func wrapped(_ text: String, indent: Int) -> String {
        wrapped(pieces: text.split(separator: " ").map(String.init), indent: indent, column: indent)
    }

    private static func wrapped(pieces: [String], indent: Int, column start: Int = 0) -> String {
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

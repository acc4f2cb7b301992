/// The help of the command, or of one of its subcommands; written from the declarations.
package struct HelpText: Sendable, Equatable, CustomStringConvertible {
    /// `nil` is the command as a whole.
    let subcommand: Subcommand?

    private static let width = 80

    package var description: String {
        subcommand.map { Self.text(of: $0.declaration) } ?? Self.overview
    }

    private static var overview: String {
        let subcommands = Subcommand.allCases.map { ($0.rawValue, $0.declaration.summary) }
        let options = [Options.help, Options.version].map { ($0.form, $0.meaning) }
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

    private static func text(of declaration: CommandDeclaration) -> String {
        var parts = [wrapped(declaration.summary + ".", indent: 0)]
        if let discussion = declaration.discussion { parts[0] += "\n" + wrapped(discussion, indent: 0) }
        parts.append(usage(of: declaration))
        if let operand = declaration.operand {
            parts.append(columns([(operand.placeholder, operand.meaning)]))
        }
        parts.append("options:\n" + columns(declaration.allOptions.map { (form($0), meaning($0)) }))
        let examples = declaration.examples.map { example in
            "  # \(example.meaning)\n  typed-cache \(example.arguments.joined(separator: " "))"
        }
        parts.append("\(examples.count == 1 ? "example" : "examples"):\n" + examples.joined(separator: "\n"))
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func usage(of declaration: CommandDeclaration) -> String {
        var words = ["typed-cache", declaration.subcommand.rawValue]
        if let operand = declaration.operand { words.append(operand.form) }
        let (required, optional) = (
            declaration.options.filter(\.isRequired), declaration.options.filter { !$0.isRequired }
        )
        words += required.map(\.form)
        for option in optional where option != declaration.exclusive.first {
            let isChoice = declaration.exclusive.contains(option)
            let forms = isChoice ? declaration.exclusive.map(\.form) : [option.form]
            words.append("[\(forms.joined(separator: " | "))]")
        }
        return wrapped(pieces: ["usage:"] + words, indent: 7)
    }

    private static func form(_ option: OptionDeclaration) -> String {
        option.form + (option.letter.map { ", -\($0)" } ?? "")
    }

    private static func meaning(_ option: OptionDeclaration) -> String {
        if option.isRequired { return option.meaning + " (required)" }
        return option.meaning + (option.standard.map { " (default: \($0))" } ?? "")
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

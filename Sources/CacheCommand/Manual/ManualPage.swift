import Foundation

/// A page of the manual, in the macros of man(7): of the command, or of one of its subcommands. Written from the
/// declarations that help is written from.
struct ManualPage: CustomStringConvertible {
    /// The name of the file, with the section's number.
    let fileName: String
    let description: String

    private static let section = 1

    /// Every page: first the command's own, then one for each subcommand.
    static var all: [ManualPage] { [ManualPage()] + Command.listedSubcommands.map { ManualPage($0) } }

    /// The page of the command.
    init() {
        var page = RoffText()
        page.title("typed-cache", section: Self.section)
        page.heading("NAME")
        page.line("typed\\-cache \\- fill, show, check, move and trim typed caches")
        page.heading("SYNOPSIS")
        page.line("\\fBtyped\\-cache\\fR \\fISUBCOMMAND\\fR \\&...")
        page.heading("DESCRIPTION")
        page.paragraph(
            "typed-cache works on the caches that programs keep with the library TypedCache: it needs neither the "
                + "program nor its types. Each subcommand has a page of its own."
        )
        page.heading("SUBCOMMANDS")
        for subcommand in Command.listedSubcommands {
            page.item(
                "\\fB\(RoffText.escaped("typed-cache-" + subcommand.name))\\fR(\(Self.section))",
                subcommand.summary + "."
            )
        }
        page.heading("OPTIONS")
        for option in [Command.helpOption, Command.versionOption] { page.option(option) }
        page.exitStatus(ExitStatus.meanings)
        page.heading("ENVIRONMENT")
        page.item(
            "\\fBTYPED_CACHE_ROOT\\fR",
            "The directory that holds the caches, where neither --root nor --app is given."
        )
        page.item(
            "\\fBTYPED_CACHE_APP\\fR",
            "The app whose caches these are, where TYPED_CACHE_ROOT is not set either."
        )
        page.item(
            "\\fBTYPED_CACHE_SHARED\\fR",
            "The URL of the server that the caches are on, where none of --shared, --root and --app is given; it comes "
                + "before the other variables. Other users of the machine do not see a password in it. Subcommands that "
                + "work on this machine's caches alone refuse to run while it is set, unless --root or --app is given; caches "
                + "and top show those of this machine, and say so."
        )
        page.item(
            "\\fBXDG_CACHE_HOME\\fR",
            "The directory of all apps' caches, except on macOS; $HOME/.cache where it is not set."
        )
        page.item(
            "\\fBNO_COLOR\\fR",
            "Where it is set and not empty, nothing is coloured. Only terminals ever get colours."
        )
        page.heading("SEE ALSO")
        page.references(Command.listedSubcommands.map { "typed-cache-\($0.name)" }, section: Self.section)
        fileName = "typed-cache.\(Self.section)"
        description = page.description
    }

    /// The page of a subcommand.
    init(_ subcommand: any Subcommand.Type) {
        let name = "typed-cache-\(subcommand.name)"
        let declared = DeclaredArguments(of: subcommand.init())
        var page = RoffText()
        page.title(name, section: Self.section)
        page.heading("NAME")
        let summary = subcommand.summary.prefix(1).lowercased() + subcommand.summary.dropFirst()
        page.lines("\(RoffText.escaped(name)) \\- \(RoffText.escaped(summary))")
        page.heading("SYNOPSIS")
        page.synopsis(of: subcommand.name, declared)
        page.heading("DESCRIPTION")
        page.paragraph(subcommand.summary + ".")
        if let discussion = subcommand.discussion {
            page.line(".PP")
            page.paragraph(discussion)
        }
        page.heading("OPTIONS")
        if let operand = declared.operand?.declaration {
            page.item("\\fI\(RoffText.escaped(operand.placeholder))\\fR", operand.help + ".")
        }
        for option in declared.allOptions { page.option(option.declaration) }
        page.exitStatus(subcommand.exitMeanings)
        page.heading("EXAMPLES")
        for (index, example) in subcommand.examples.enumerated() {
            if index > 0 { page.line(".PP") }
            page.paragraph(example.meaning + ":")
            page.example(
                "typed-cache " + example.text
            )
        }
        page.heading("SEE ALSO")
        page.references(["typed-cache"], section: Self.section)
        fileName = "\(name).\(Self.section)"
        description = page.description
    }
}

/// Text with the macros of man(7), line by line.
struct RoffText: CustomStringConvertible {
    private(set) var description = ""

    /// Text as it stands in a line, where nothing of it is taken for markup; characters beyond ASCII by their numbers.
    static func escaped(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case "\n": escaped += " "
            case _ where !scalar.isASCII:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Adds a line of markup.
    mutating func line(_ markup: String) { description += markup + "\n" }

    /// Adds markup in lines that are not too long for people; roff fills them anyway.
    mutating func lines(_ markup: String) {
        var text = ""
        func end() -> String { text.hasPrefix(".") ? "\\&" + text : text }
        for word in markup.split(separator: " ") {
            if !text.isEmpty, text.utf8.count + 1 + word.utf8.count > 76 {
                line(end())
                text = ""
            }
            text += (text.isEmpty ? "" : " ") + word
        }
        line(end())
    }

    mutating func title(_ name: String, section: Int) {
        line(
            ".TH \(Self.escaped(name.uppercased())) \(section) \(CommandLineTool.released) "
                + "\"typed\\-cache \(CommandLineTool.version)\""
        )
    }

    mutating func heading(_ text: String) { line(".SH \(text)") }

    /// Adds text, each sentence on a line of its own, as roff wants it for the space after it.
    mutating func paragraph(_ text: String) {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.range(of: #"[.!?:] (?=[A-Z])"#, options: .regularExpression)
            let sentence = end.map { rest[..<rest.index(before: $0.upperBound)] } ?? rest
            lines(Self.escaped(sentence))
            rest = end.map { rest[$0.upperBound...] } ?? ""
        }
    }

    /// Adds a term, in markup, and its meaning.
    mutating func item(_ term: String, _ meaning: String) {
        line(".TP")
        line(term)
        paragraph(meaning)
    }

    mutating func option(_ option: OptionDeclaration) {
        var term = "\\fB\(Self.escaped(option.spelling))\\fR"
        if let letter = option.letter { term = "\\fB\\-\(letter)\\fR, \(term)" }
        if let placeholder = option.placeholder { term += " \\fI\(Self.escaped(placeholder))\\fR" }
        var meaning = option.help + "."
        if option.isRequired { meaning += " Required." }
        if let standard = option.standard { meaning += " Default: \(standard)." }
        item(term, meaning)
    }

    mutating func exitStatus(_ meanings: KeyValuePairs<Int, String>) {
        heading("EXIT STATUS")
        for (code, meaning) in meanings { item("\(code)", meaning) }
    }

    mutating func synopsis(of name: String, _ declared: DeclaredArguments) {
        line(".nh")
        line(".ad l")
        line("\\fBtyped\\-cache \(Self.escaped(name))\\fR")
        if let operand = declared.operand?.declaration { line("\\&" + Self.form(of: operand)) }
        for option in declared.options.map(\.declaration) where option.isRequired {
            line("\\&" + Self.form(of: option))
        }
        for choice in declared.choices {
            line("[\(choice.map { Self.form(of: $0.declaration) }.joined(separator: " | "))]")
        }
        line(".ad b")
        line(".hy")
    }

    private static func form(of option: OptionDeclaration) -> String {
        let name = "\\fB\(escaped(option.spelling))\\fR"
        return option.placeholder.map { "\(name)\\ \\fI\(escaped($0))\\fR" } ?? name
    }

    private static func form(of operand: OperandDeclaration) -> String {
        let word = "\\fI\(escaped(operand.placeholder))\\fR" + (operand.most > 1 ? " \\&..." : "")
        return operand.least == 0 ? "[\(word)]" : word
    }

    mutating func example(_ text: String) {
        line(".PP")
        line(".nf")
        line(".RS 4")
        line(Self.escaped(text))
        line(".RE")
        line(".fi")
    }

    mutating func references(_ names: [String], section: Int) {
        for (index, name) in names.enumerated() {
            line(".BR \(Self.escaped(name)) (\(section))" + (index + 1 < names.count ? "," : ""))
        }
    }
}

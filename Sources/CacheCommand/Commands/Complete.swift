import KeyedArchive

/// `complete`: answers the shells' completion functions.
///
/// Standard output holds records with a NUL after each: first the files that the shell completes by itself (`none`,
/// `files` or `directories`), then the candidates. For bash a candidate is the text to insert, quoted; for zsh it is two
/// records, the value and its meaning; for fish one, with a tab between them.
struct Complete: Subcommand {
    static let name = "complete"
    static let summary = "Complete a command line for a shell"
    static let examples = [
        CommandExample(
            arguments: ["complete", "--shell", "fish", "--", "list", "--so"],
            meaning: "See how list --so goes on"
        )
    ]
    static let isHidden = true

    @Operand(
        "WORD",
        help: "Of bash and zsh the command's name and the line up to the cursor, of fish its words without the name"
    )
    var words: [String]
    @Option(
        required: "shell",
        value: "SHELL",
        help: "bash, zsh or fish",
        parse: ArgumentText.word(["bash": CompletionShell.bash, "zsh": .zsh, "fish": .fish])
    )
    var shell: CompletionShell
    @Option("word", value: "TEXT", help: "The end of the line that bash replaces", parse: { $0 }) var replaced:
        String?

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let (request, typed) = request()
        let answer = request.answer(in: environment)
        var records = [answer.files.rawValue]
        for candidate in answer.candidates {
            switch shell {
            case .bash: if let text = insertion(of: candidate.text, behind: typed) { records.append(text) }
            case .zsh: records += [candidate.text, candidate.meaning]
            // Fish takes the first tab for the beginning of the meaning.
            case .fish where candidate.text.contains("\t"): break
            case .fish where candidate.meaning.isEmpty: records.append(candidate.text)
            case .fish: records.append("\(candidate.text)\t\(candidate.meaning)")
            }
        }
        try environment.output.write(records.map { $0 + "\0" }.joined())
        return .success
    }

    private func request() -> (CompletionRequest, typed: ShellWords.Word) {
        guard shell != .fish else {
            let current = words.last ?? ""
            return (CompletionRequest(words: words.dropLast(), current: current), ShellWords.Word(text: current))
        }
        let line = ShellWords(words.last ?? "")
        let current = line.words.last ?? ShellWords.Word()
        var before = line.words.dropLast().map(\.text)
        // Variables may be set for the command before its name.
        let command = words.first ?? ""
        before.removeFirst(
            before.firstIndex(of: ShellWords(command).words[0].text).map { $0 + 1 } ?? min(1, before.count)
        )
        return (CompletionRequest(words: before, current: current.text), current)
    }

    /// The text that bash puts in place of the end of the line; `nil` if it cannot become the candidate.
    private func insertion(of text: String, behind typed: ShellWords.Word) -> String? {
        let replaced = replaced ?? typed.typed
        guard typed.typed.hasSuffix(replaced) else { return nil }
        let kept = ShellWords(String(typed.typed.dropLast(replaced.count))).words.last ?? ShellWords.Word()
        guard text.utf8.starts(with: kept.text.utf8) else { return nil }
        let rest = String(decoding: text.utf8.dropFirst(kept.text.utf8.count), as: UTF8.self)
        return ShellQuoting(rest, within: kept.quote).description
    }
}

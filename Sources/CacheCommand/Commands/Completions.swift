/// `completions`: prints the script by which a shell completes the command's words.
struct Completions: Subcommand {
    static let name = "completions"
    static let summary = "Print the completions for a shell"
    static let discussion: String? =
        "The shell then completes subcommands, options and their words, names of caches and apps, and keys. "
        + "It calls the installed command for them, so they always fit. Shows up to 200 keys that are found "
        + "within a quarter of a second. bash must be of version 4.4 or later."
    static let examples = [
        CommandExample(
            arguments: ["completions", "bash"],
            meaning: "Write it to a file typed-cache in ~/.local/share/bash-completion/completions"
        ),
        CommandExample(
            arguments: ["completions", "zsh"],
            meaning: "Write it to a file _typed-cache in a directory of zsh's fpath"
        ),
        CommandExample(
            arguments: ["completions", "fish"],
            meaning: "Write it to ~/.config/fish/completions/typed-cache.fish"
        ),
    ]

    @Operand("SHELL", help: "bash, zsh or fish") var name: String

    func validate() throws(ArgumentError) {
        guard CompletionShell(rawValue: name) != nil else {
            let names = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.failure(.badValue(option: "SHELL", InvalidValue(name, expected: "one of \(names)")))
        }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        try environment.output.write(CompletionShell(rawValue: name)?.script ?? "")
        return .success
    }
}

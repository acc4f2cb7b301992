import KeyedArchive

/// `lint`: checks property lists.
struct Lint: Subcommand {
    static let name = "lint"
    static let summary = "Check that property lists, archives and JSON can be read"
    static let discussion: String? =
        "Prints a line for each sound FILE, and for each other one its fault with the line or byte. The exit "
        + "code is 1 if a FILE has a fault."
    static let examples = [
        CommandExample(arguments: ["lint", "a.plist", "b.archive"], meaning: "Check two files"),
        CommandExample(arguments: ["lint", "a.plist", "--quiet"], meaning: "Check one by the exit code"),
    ]

    @Operand("FILE", help: "The files to check; - is standard input") var paths: [String]
    @Flag("quiet", help: "Print nothing about sound files") var isQuiet: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        try environment.forEachDocument(paths) { path, interruption in
            let document = try DocumentFile.open(path, in: environment, until: interruption, for: .checking)
            if !isQuiet { try environment.output.write("\(EscapedText(path)): OK, \(document.formatName)\n") }
        }
    }
}

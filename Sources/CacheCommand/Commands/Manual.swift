import Foundation

/// `manual`: prints or writes the manual's pages.
struct Manual: Subcommand {
    static let name = "manual"
    static let summary = "Print a page of the manual, or write all of them"
    static let discussion: String? =
        "The pages are for man: typed-cache(1), and one for each subcommand. Prints the page of the command, "
        + "unless a subcommand is named."
    static let examples = [
        CommandExample(arguments: ["manual", "list"], meaning: "Print the page of list, for man -l -"),
        CommandExample(arguments: ["manual", "--output", "share/man/man1"], meaning: "Write all pages"),
    ]

    @Operand("SUBCOMMAND", help: "The subcommand to explain") var topic: String?
    @Option(
        "output",
        letter: "o",
        value: "DIR",
        help:
            "Write every page to a file in this directory, which must be there; files of the same names are replaced",
        parse: ArgumentText.nonEmpty("a directory")
    )
    var directory: String?

    func validate() throws(ArgumentError) {
        if let topic {
            if directory != nil { throw Self.failure(.conflictingOptions("SUBCOMMAND", "--output")) }
            _ = try Command.subcommand(named: topic)
        }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        guard let directory else {
            let page = try topic.map { ManualPage(try Command.subcommand(named: $0)) } ?? ManualPage()
            try environment.output.write(page.description)
            return .success
        }
        for page in ManualPage.all {
            let file = URL(fileURLWithPath: directory, isDirectory: true).appending(path: page.fileName)
            try DocumentFile.replace(file.path, with: Array(page.description.utf8))
        }
        return .success
    }
}

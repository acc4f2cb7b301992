// Subcommands that show single entries or remove them.
extension Subcommand {
    static let listDeclaration = CommandDeclaration(
        subcommand: .list,
        summary: "Print the keys of a cache, one per line, escaped",
        discussion:
            "A backslash in a key is printed as two, a line feed as \\n, other invisible characters as \\u{…}. get - and "
            + "remove - read keys from standard input in this form; with --null, here and there, as they are. In caches "
            + "of the library ModelCache, --long and --json tell models and lists.",
        options: selection + [Options.long, Options.null, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["list", "--cache", "cities", "--long"],
                meaning: "See what is stored until when"
            )
        ]
    )

    static let getDeclaration = CommandDeclaration(
        subcommand: .get,
        summary: "Print records of a cache as JSON",
        discussion:
            "Nothing is changed: an entry that is damaged stays where it is, and none counts as used. A model or list of "
            + "the library ModelCache is shown with its age. The exit code is 1 if a key has no entry, or one that "
            + "cannot be read.",
        operand: OperandDeclaration(
            placeholder: "KEY",
            arity: .one,
            meaning: "The key it was saved for; - reads keys from standard input, one per line, as list prints them"
        ),
        options: selection + [Options.nullKeys, Options.json],
        exclusive: location,
        examples: [
            CommandExample(arguments: ["get", "362", "--cache", "cities"], meaning: "Look at one city"),
            CommandExample(
                arguments: ["get", "-", "--cache", "cities", "--json"],
                meaning: "Print a record per line for the keys on standard input"
            ),
        ]
    )

    static let removeDeclaration = CommandDeclaration(
        subcommand: .remove,
        summary: "Remove entries from a cache",
        discussion: "The exit code is 1 if one of the keys had no entry.",
        operand: OperandDeclaration(
            placeholder: "KEY",
            arity: .many,
            meaning: "The keys to remove; - reads them from standard input, one per line, as list prints them"
        ),
        options: selection + [Options.nullKeys, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["remove", "--cache", "cities", "--", "362", "-1"],
                meaning: "Remove two entries; behind -- a key may begin with a dash"
            ),
            CommandExample(
                arguments: ["remove", "-", "--null", "--cache", "cities"],
                meaning: "Remove the keys that a pipe from list --null brings"
            ),
        ]
    )

    static let dumpDeclaration = CommandDeclaration(
        subcommand: .dump,
        summary: "Print a keyed archive, or the one of a cache's entry, as a tree",
        discussion:
            "With --cache it is the archive of the entry for KEY, in any layout. Without, FILE is an archive, or the "
            + "file of an entry of a cache with a file for each.",
        operand: OperandDeclaration(
            placeholder: "FILE|KEY",
            arity: .one,
            meaning: "The file to look into, or the key of an entry"
        ),
        options: [Options.entryCache.declaration] + location + [Options.json],
        exclusive: location,
        examples: [
            CommandExample(arguments: ["dump", "zoo.archive"], meaning: "See the objects in an archive"),
            CommandExample(
                arguments: ["dump", "362", "--cache", "cities"],
                meaning: "See the objects that an entry was saved as"
            ),
        ]
    )
}

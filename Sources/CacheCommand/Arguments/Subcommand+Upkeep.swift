// Subcommands that check a cache, move it, and tidy it up.
extension Subcommand {
    static let verifyDeclaration = CommandDeclaration(
        subcommand: .verify,
        summary: "Read every entry of a cache whole, and tell which are damaged",
        discussion:
            "Checks each entry's checksum, inflates it, and reads its archive as dump does; of an archive above 16 MiB "
            + "only the beginning. Nothing is changed without --repair. The exit code is 1 if an entry is damaged or cannot be read, repaired or not.",
        options: selection + [Options.repair, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["verify", "--cache", "cities"],
                meaning: "See whether all entries are sound"
            ),
            CommandExample(
                arguments: ["verify", "--cache", "cities", "--repair"],
                meaning: "Remove the damaged ones"
            ),
        ]
    )

    static let exportDeclaration = CommandDeclaration(
        subcommand: .export,
        summary: "Write the entries of a cache into a directory, a plain file each",
        discussion:
            "Each file is a keyed archive as the app saved it, a property list that plutil reads; index.ndjson has "
            + "the keys, dates and tags. import reads all of it, into a cache of any kind of store. Damaged entries "
            + "are reported and left out; the exit code is then 1. Ctrl-C stops; what has been written is whole.",
        operand: OperandDeclaration(
            placeholder: "DIR",
            arity: .one,
            meaning: "The directory to write into; made if missing, else it must be empty"
        ),
        options: selection + [Options.all, Options.force, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["export", "backup", "--cache", "cities", "--all"],
                meaning: "Write all entries, also those that have expired"
            ),
            CommandExample(
                arguments: ["export", "backup", "--cache", "cities", "--force"],
                meaning: "Write in place of the last export"
            ),
        ]
    )

    static let importDeclaration = CommandDeclaration(
        subcommand: .import,
        summary: "Save the files of a directory that export wrote into a cache",
        discussion:
            "Without an index.ndjson, every .plist and .archive in the directory is saved under its name, percent "
            + "signs decoded. A file that is no keyed archive is reported and skipped; the exit code is then 1. "
            + "After export, this moves a cache from one kind of store, or machine, to another.",
        operand: OperandDeclaration(placeholder: "DIR", arity: .one, meaning: "The directory to read"),
        options: selection + [Options.layout.declaration, Options.keep, Options.importDryRun, Options.json],
        exclusive: location,
        examples: [
            CommandExample(
                arguments: ["import", "backup", "--cache", "cities"],
                meaning: "Bring back what was exported"
            ),
            CommandExample(
                arguments: ["import", "backup", "--cache", "cities", "--app", "Atlas", "--keep"],
                meaning: "Add what the app does not have"
            ),
            CommandExample(
                arguments: ["import", "backup", "--cache", "cities2", "--layout", "files"],
                meaning: "Move to a cache with a file for each entry"
            ),
        ]
    )

    static let compactDeclaration = CommandDeclaration(
        subcommand: .compact,
        summary: "Give back the space of what is no longer in a cache",
        discussion:
            "Removes entries that have expired, then gives back the bytes of entries that were removed or saved "
            + "over, where the store keeps such. No entry that is in use goes: see trim for that.",
        options: selection + [Options.json],
        exclusive: location,
        examples: [
            CommandExample(arguments: ["compact", "--cache", "cities"], meaning: "Make the cache's files small")
        ]
    )
}

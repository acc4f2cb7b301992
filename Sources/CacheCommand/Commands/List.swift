import KeyedArchive

/// `list`: prints the keys of a cache.
struct List: Subcommand {
    static let name = "list"
    static let summary = "Print the keys of a cache, one per line, escaped"
    static let discussion: String? =
        "A backslash in a key is printed as two, a line feed as \\n, other invisible characters as \\u{…}. get - and "
        + "remove - read keys from standard input in this form; with --null, here and there, as they are. In caches "
        + "of the library ModelCache, --long and --json tell models and lists."
    static let examples = [
        CommandExample(
            arguments: ["list", "--cache", "cities", "--long"],
            meaning: "See what is stored until when"
        )
    ]

    let cache = CacheOptions()
    @Flag("long", help: "Show when each entry was stored, expires, and its size") var isLong: Bool
    @Flag("null", letter: "0", help: "Print the keys as they are, with a NUL behind each, for programs")
    var writesRawKeys: Bool
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        guard writesRawKeys else { return }
        if isLong { throw Self.failure(.conflictingOptions("--null", "--long")) }
        if writesJSON { throw Self.failure(.conflictingOptions("--null", "--json")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(self.cache.selection)
        var entries = try cache.entries().sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        if writesJSON || isLong { entries = EntryRow.namingModels(entries, in: cache, at: environment.date()) }
        if writesJSON {
            try JSONWriter.write(.array(entries.map(\.json)), isIndented: true, to: environment.output)
        } else if writesRawKeys {
            for entry in entries { try environment.output.write("\(entry.key)\0") }
        } else if isLong {
            try environment.output.write(EntryRow.table(entries).description)
        } else {
            for entry in entries { try environment.output.write("\(EscapedText(entry.key))\n") }
        }
        return .success
    }
}

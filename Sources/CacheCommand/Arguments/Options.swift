/// Every option of the command.
enum Options {
    static let help = OptionDeclaration(
        name: "help",
        letter: "h",
        meaning: "Show this help and do nothing else"
    )
    static let version = OptionDeclaration(name: "version", meaning: "Show the version and do nothing else")

    // Selecting the cache.
    static let cache = ValueOption.text(
        OptionDeclaration(
            name: "cache",
            placeholder: "NAME",
            meaning: "Name of the cache",
            isRequired: true
        ),
        expected: "the name of a cache"
    )
    static let entryCache = ValueOption.text(
        OptionDeclaration(
            name: "cache",
            placeholder: "NAME",
            meaning: "Cache whose entry for a key is meant",
            standard: "a file is meant"
        ),
        expected: "the name of a cache"
    )
    static let root = ValueOption.text(
        OptionDeclaration(name: "root", placeholder: "DIR", meaning: "Directory that holds the app's caches"),
        expected: "a directory"
    )
    static let app = ValueOption.text(
        OptionDeclaration(
            name: "app",
            placeholder: "NAME",
            meaning: "App whose caches these are",
            standard: "the command's own caches"
        ),
        expected: "the name of an app"
    )

    // Warming.
    static let key = ValueOption.text(
        OptionDeclaration(
            name: "key",
            placeholder: "FIELD",
            meaning: "Field whose value, a string or a whole number, becomes the key",
            isRequired: true
        ),
        expected: "the name of a field"
    )
    static let type = ValueOption.text(
        OptionDeclaration(
            name: "type",
            placeholder: "NAME",
            meaning: "Swift type that the app will fetch, with its module: atlas.City",
            standard: "a dictionary"
        ),
        expected: "the name of a Swift type"
    )
    static let fields = ValueOption(
        declaration: OptionDeclaration(
            name: "fields",
            placeholder: "LIST",
            meaning: "Fields to save and their types, as in name:string,area:double? (types: "
                + FieldType.allCases.map(\.rawValue).joined(separator: ", ")
                + "; with ? the field may be missing)",
            standard: "every field, as the source types it; columns of CSV are strings"
        )
    ) { text throws(InvalidValue) in try FieldList(parsing: text) }
    static let ttl = ValueOption(
        declaration: OptionDeclaration(
            name: "ttl",
            placeholder: "TIME",
            meaning: "Time after which the records expire: 30s, 10m, 12h, 7d or 2w",
            standard: "never"
        )
    ) { text throws(InvalidValue) in try TimeToLive(parsing: text) }
    static let limit = ValueOption(
        declaration: OptionDeclaration(
            name: "limit",
            placeholder: "N",
            meaning: "Stop after N records have been saved",
            standard: "all records"
        )
    ) { text throws(InvalidValue) in
        guard let count = Int(text), count >= 0 else { throw InvalidValue(text, expected: "a whole number") }
        return count
    }
    static let maxSize = size(
        OptionDeclaration(
            name: "max-size",
            placeholder: "SIZE",
            meaning: "Most bytes of entries on disk (not index, journal), as in 64M; the least useful give way",
            standard: "no limit"
        )
    )
    static let tag = ValueOption.text(
        OptionDeclaration(
            name: "tag",
            placeholder: "NAME",
            meaning: "Tag the records, so that the app can remove all of them at once"
        ),
        expected: "a tag"
    )
    static let resume = OptionDeclaration(
        name: "resume",
        meaning: "Leave keys alone that have an entry already, as after an interruption"
    )
    static let format = ValueOption<RecordFormat>.word(
        OptionDeclaration(
            name: "format",
            placeholder: "FORMAT",
            meaning: "Format of the source: ndjson, json or csv",
            standard: "by its extension, then by its first character"
        )
    )
    static let layout = ValueOption<CacheLayout>.word(
        OptionDeclaration(
            name: "layout",
            placeholder: "LAYOUT",
            meaning: "How the cache keeps its entries: packed in a few files, or files, one for each",
            standard: "as it does already; packed for a new one"
        )
    )
    static let dryRun = OptionDeclaration(
        name: "dry-run",
        meaning: "Read and check every record as without it, --max-size aside, but save nothing and touch no cache"
    )
    static let skipInvalid = OptionDeclaration(
        name: "skip-invalid",
        meaning: "Succeed even if some records had to be skipped"
    )
    static let printKeys = OptionDeclaration(
        name: "print-keys",
        meaning: "Print each key, escaped, on its own line once it has been saved (with --dry-run: checked)"
    )
    static let quiet = OptionDeclaration(name: "quiet", meaning: "Show neither progress nor summary")

    // Trimming.
    static let trimSize = size(
        OptionDeclaration(
            name: "max-size",
            placeholder: "SIZE",
            meaning: "Most bytes of entries on disk afterwards (not index, journal), as in 64M",
            isRequired: true
        )
    )

    private static func size(_ declaration: OptionDeclaration) -> ValueOption<SizeLimit> {
        ValueOption(declaration: declaration) { text throws(InvalidValue) in try SizeLimit(parsing: text) }
    }

    // Verifying, exporting and importing.
    static let repair = OptionDeclaration(name: "repair", meaning: "Remove the damaged entries")
    static let all = OptionDeclaration(name: "all", meaning: "Write entries too that have expired")
    static let force = OptionDeclaration(
        name: "force",
        meaning: "Write into a directory that is not empty: the files of an export there are removed first, all "
            + "others left alone"
    )
    static let keep = OptionDeclaration(
        name: "keep",
        meaning: "Leave keys alone that have an entry already, which is replaced otherwise"
    )
    static let importDryRun = OptionDeclaration(
        name: "dry-run",
        meaning: "Read and check every file, but save nothing and touch no cache"
    )

    // Output, input and confirmation.
    static let json = OptionDeclaration(name: "json", meaning: "Print JSON")
    static let long = OptionDeclaration(
        name: "long",
        meaning: "Show when each entry was stored, expires, and its size"
    )
    static let null = OptionDeclaration(
        name: "null",
        letter: "0",
        meaning: "Print the keys as they are, with a NUL behind each, for programs"
    )
    static let nullKeys = OptionDeclaration(
        name: "null",
        letter: "0",
        meaning: "With - for KEY: keys on standard input are as they are, with a NUL behind each"
    )
    static let yes = OptionDeclaration(name: "yes", meaning: "Do not ask")
}

/// The options that select entries of a cache.
struct SelectionOptions: OptionGroup {
    @Option(
        "prefix",
        value: "TEXT",
        help: "Only entries whose keys begin with TEXT",
        parse: ArgumentText.nonEmpty("the beginning of a key")
    )
    var prefix: String?
    @Option(
        "match",
        value: "GLOB",
        help: "Only entries whose keys match this pattern, with *, ? and [a-z] as in shells",
        parse: { text throws(InvalidValue) in try GlobPattern(parsing: text) }
    )
    var pattern: GlobPattern?
    @Option("tag", value: "NAME", help: "Only entries with this tag", parse: ArgumentText.tag)
    var tag: String?
    @Option(
        "older-than",
        value: "TIME",
        help: "Only entries older than this, for instance 12h or 30d",
        parse: { text throws(InvalidValue) in try TimeToLive(parsing: text) }
    )
    var age: TimeToLive?
    @Option(
        "larger-than",
        value: "SIZE",
        help: "Only entries larger than this on disk, for instance 64K",
        parse: SizeLimit.ofSelection
    )
    var size: SizeLimit?
    @Flag("expired", help: "Only entries that have expired and are not removed yet, instead of all others")
    var isExpired: Bool

    /// The first of these options that is given, as it is written.
    var firstGiven: String? {
        let options: [any DeclaredOption] = [_prefix, _pattern, _tag, _age, _size, _isExpired]
        return options.first { $0.text != nil }?.declaration.spelling
    }

    var isGiven: Bool { firstGiven != nil }

    var filter: EntryFilter {
        EntryFilter(
            prefix: prefix,
            pattern: pattern,
            tag: tag,
            minimumAge: age?.duration,
            lowerSize: size?.bytes.bytes,
            isExpired: isExpired
        )
    }
}

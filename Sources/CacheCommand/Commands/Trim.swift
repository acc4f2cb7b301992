/// `trim`: gives entries up until a cache is small enough.
struct Trim: Subcommand {
    static let name = "trim"
    static let summary = "Give up entries of a cache until it is small enough"
    static let discussion: String? = "Entries that have expired go first, then the least useful ones."
    static let examples = [
        CommandExample(
            arguments: ["trim", "--cache", "cities", "--max-size", "8M"],
            meaning: "Leave 8 MiB at most"
        )
    ]

    let cache = CacheOptions()
    @Option(
        required: "max-size",
        value: "SIZE",
        help: "Most bytes of entries on disk afterwards (not index, journal), as in 64M",
        parse: SizeLimit.init(parsing:)
    )
    var size: SizeLimit
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let (expired, evicted) = try environment.backend.open(cache.selection).trim(to: size)
        try environment.write(
            ["expired": .count(expired), "evicted": .count(evicted)],
            orProse: "\(CountText(expired, "expired entry", plural: "expired entries")) removed, "
                + "\(CountText(evicted)) others given up",
            asJSON: writesJSON
        )
        return .success
    }
}

import KeyedArchive

/// `clear`: removes all entries of a cache.
struct Clear: Subcommand {
    static let name = "clear"
    static let summary = "Remove all entries of a cache"
    static let discussion: String? = "Asks first; where nobody can be asked it needs --yes."
    static let examples = [
        CommandExample(
            arguments: ["clear", "--cache", "cities", "--yes"],
            meaning: "Empty the cache from a script"
        )
    ]

    let cache = CacheOptions()
    @Flag("yes", help: "Do not ask") var isConfirmed: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        if !isConfirmed {
            guard let confirm = environment.confirm else { throw CommandFailure.unconfirmed }
            let question = "Remove all entries of the cache '\(EscapedText(cache.name, limit: 200))'?"
            guard confirm(question) else { return .failure }
        }
        let count = try environment.backend.open(cache.selection).removeAll()
        if writesJSON { try environment.write(["removed": .count(count)]) }
        return .success
    }
}

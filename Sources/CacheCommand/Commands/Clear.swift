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

    let cache = SharedCacheOptions()
    @Flag("yes", help: "Do not ask") var isConfirmed: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        if !isConfirmed, environment.confirm == nil { throw CommandFailure.unconfirmed }
        // Opened before the question, so that a missing cache is an error and no question.
        let cache = try environment.backend.open(self.cache.selection())
        if !isConfirmed, let confirm = environment.confirm {
            let name = EscapedText(self.cache.name, limit: 200)
            var question = "Remove all entries of the cache '\(name)'?"
            if case .shared(let place) = try self.cache.selection().location {
                question =
                    "Remove all entries of the cache '\(name)', of all schemas, on \(EscapedText(place.shownURL))?"
            }
            guard confirm(question) else { return .failure }
        }
        if writesJSON {
            try environment.write(["removed": .count(cache.removeAll())])
        } else {
            try cache.removeAllUncounted()
        }
        return .success
    }
}

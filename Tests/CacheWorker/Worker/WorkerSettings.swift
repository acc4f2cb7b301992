/// What a worker works on.
struct WorkerSettings {
    /// The directory that holds the cache's own.
    var directory: String
    var name = "torture"
    /// The file of its log.
    var log: String
    /// Who it is, in the identities of its values.
    var writer: Int
    var seed: UInt64 = 1
    /// The keys of its operations.
    var keys: [String] = []
    /// Whether values are kept in memory, which is only right where nobody else writes.
    var usesMemory = false

    /// As a process of its own takes them.
    var arguments: [String] {
        [
            "work", "--directory", directory, "--name", name, "--log", log, "--writer", "\(writer)", "--seed",
            "\(seed)",
            "--keys", keys.joined(separator: ","),
        ] + (usesMemory ? ["--memory"] : [])
    }
}

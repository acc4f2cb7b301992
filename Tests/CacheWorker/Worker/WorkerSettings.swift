import TypedCache

/// The cache and the work of a worker.
struct WorkerSettings {
    /// The directory that holds the cache's own.
    var directory: String
    var name = "torture"
    /// How entries are kept.
    var layout = DiskSettings.Layout.automatic
    /// The file of its log.
    var log: String
    /// Its number in the identities of its values.
    var writer: Int
    var seed: UInt64 = 1
    /// The keys of its operations.
    var keys: [String] = []
    /// Keys that it only reads.
    var readKeys: [String] = []
    var mix = OperationMix.all
    /// Whether values are kept in memory; correct only if no other process writes, or if it follows the others.
    var usesMemory = false
    var followsOthers = false
    /// Whether it publishes the statistics of its cache.
    var publishes = false
    /// The limits of the cache on disk; `nil` for none.
    var byteLimit: Int?
    var countLimit: Int?
    /// How many bytes may wait for being written; `nil` if each save writes.
    var deferredByteCount: Int?
    /// The URL of the server that has the entries; `nil` for a directory of this machine.
    var server: String?

    /// As a process of its own takes them.
    var arguments: [String] {
        var words = [
            "work", "--directory", directory, "--name", name, "--log", log, "--writer", "\(writer)", "--seed",
            "\(seed)", "--keys", keys.joined(separator: ","), "--reads", readKeys.joined(separator: ","),
            "--mix", mix.rawValue, "--layout", layout.rawValue,
        ]
        if usesMemory { words.append("--memory") }
        if followsOthers { words.append("--follow") }
        if publishes { words.append("--publish") }
        if let byteLimit { words += ["--bytes", "\(byteLimit)"] }
        if let countLimit { words += ["--count", "\(countLimit)"] }
        if let server { words += ["--server", server] }
        if let deferredByteCount { words += ["--behind", "\(deferredByteCount)"] }
        return words
    }
}

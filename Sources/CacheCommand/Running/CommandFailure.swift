/// Why a command that was understood could not be done: facts alone, the sentence is `CommandFailureMessage`'s.
enum CommandFailure: Error, Sendable, Equatable {
    case source(SourceError, SourceLocation)
    case noEntry(key: String)
    /// There is nobody to ask whether to clear the cache.
    case unconfirmed
    case unavailable
}

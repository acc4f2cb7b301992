import KeyedArchive

/// Why a command that was understood could not be done: facts alone, the sentence is `CommandFailureMessage`'s.
enum CommandFailure: Error, Sendable {
    case source(SourceError, SourceLocation)
    case noEntry(key: String)
    /// There is nobody to ask whether to clear the cache.
    case unconfirmed
    /// There is no cache of that name in the directory.
    case noCache(name: String, directory: String)
    /// The name of a type that records cannot be saved as.
    case unusableType(String)
    /// A file is no keyed archive, or a damaged one.
    case unsoundArchive(path: String, ArchiveError)
    /// A file cannot be read; the number is the system's.
    case unreadable(path: String, errno: Int32)
    /// A file or directory cannot be written; the number is the system's.
    case unwritable(path: String, errno: Int32)
    /// An export's directory holds something already.
    case notEmpty(path: String)
    /// Something that no export wrote has the name of an export's index.
    case foreignIndex(path: String)
    /// An export's index cannot be read.
    case unreadableIndex(path: String, ExportIndex.Fault)
    /// An archive refers to the same parts so often that it cannot be written out.
    case tooEntangled
}

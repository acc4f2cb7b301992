import KeyedArchive
import TypedCache

/// Why a command that was understood could not be done: facts alone, the sentence is `CommandFailureMessage`'s.
enum CommandFailure: Error, Sendable {
    case source(SourceError, SourceLocation)
    case noEntry(key: String)
    /// Clearing the cache needs a confirmation, and there is no person to ask.
    case unconfirmed
    case noCache(MissingCache)
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
    /// There is neither an index nor an archive in the directory that is to be imported.
    case nothingToImport(path: String)
    /// An export's index cannot be read.
    case unreadableIndex(path: String, ExportIndex.Fault)
    /// An entry's bytes are not those that were saved, or cannot be read.
    case unreadableEntry(key: String, CacheError)
    /// An entry is whole, and no keyed archive.
    case unsoundEntry(key: String, ArchiveError)
    /// An entry's archive refers to itself, or to the same parts so often that it cannot be written out.
    case entangled(key: String, CacheSelection)
}

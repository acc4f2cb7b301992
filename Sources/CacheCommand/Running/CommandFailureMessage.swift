import KeyedArchive
import TypedCache

/// Writes the sentence for a command that could not be done, and what to do about it.
struct CommandFailureMessage: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        switch error {
        case CommandFailure.source(let error, let location):
            description = SourceErrorMessage(error: error, location: location).description
        case CommandFailure.noEntry(let key):
            description = "no entry for '\(SafeText(key, limit: 200))'; see typed-cache list"
        case CommandFailure.unconfirmed:
            description =
                "clear asks first, and standard input is no terminal; give --yes to clear without asking"
        case CommandFailure.noCache(let name, let directory):
            description =
                "no cache '\(SafeText(name, limit: 200))' in \(SafeText(directory)); "
                + "say where it is with --root or --app"
        case CommandFailure.unusableType(let name):
            description = "records cannot be saved as '\(SafeText(name, limit: 200))'; give a type of the app's own"
        case CommandFailure.unreadable(let path, let number):
            description = "\(SafeText(path)) cannot be read: \(SystemMessage(number))"
        case CommandFailure.unwritable(let path, let number):
            description = "\(SafeText(path)) cannot be written: \(SystemMessage(number))"
        case CommandFailure.notEmpty(let path):
            description =
                "\(SafeText(path)) is not empty; give another directory, or --force to replace an export there"
        case CommandFailure.foreignIndex(let path):
            description = "\(SafeText(path)) was not written by export and stays; give another directory"
        case CommandFailure.unreadableIndex(let path, let fault):
            description = "\(SafeText(path)) \(fault.phrase)"
        case CommandFailure.tooEntangled:
            description = "the archive refers to itself, or to the same parts too often; see typed-cache dump"
        case let error as CacheError:
            description = SafeText(error.message, limit: 1_000).description
        case CommandFailure.unsoundArchive(let path, let error) where error.code == .unknownFormat:
            description = "\(SafeText(path)) is neither a keyed archive nor a cache entry"
        case CommandFailure.unsoundArchive(let path, let error):
            let place = error.offset.map { ", at byte \($0)" } ?? ""
            description = "\(SafeText(path)) is no sound archive: \(SafeText(error.message, limit: 1_000))\(place)"
        case let error as ArchiveError:
            description = SafeText("the entry is no sound archive: \(error)", limit: 1_000).description
        case OutputError.failed(let errno):
            description = "standard output cannot be written: \(SystemMessage(errno))"
        default:
            description = SafeText("\(error)", limit: 1_000).description
        }
    }
}

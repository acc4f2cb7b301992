import ArchiveStore
import KeyedArchive
import TypedCache

/// Writes the sentence for a command that could not be done: the fault and the remedy.
struct CommandFailureMessage: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        switch error {
        case CommandFailure.source(let error, let location):
            description = SourceErrorMessage(error: error, location: location).description
        case CommandFailure.noEntry(let key):
            let isEscaped = SafeText.unescaped(key).map { !$0.utf8.elementsEqual(key.utf8) } ?? false
            description =
                "no entry for '\(SafeText(key, limit: 200))'; "
                + (isEscaped
                    ? "keys that list prints are escaped: pass them on standard input, with - for KEY"
                    : "see typed-cache list")
        case CommandFailure.unconfirmed:
            description =
                "clear asks first, and standard input is no terminal; give --yes to clear without asking"
        case CommandFailure.noCache(let missing):
            description = missing.description
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
        case CommandFailure.nothingToImport(let path):
            description =
                "there is nothing to import in \(SafeText(path)): no \(ExportIndex.fileName), no .plist and no .archive"
        case CommandFailure.unreadableIndex(let path, let fault):
            description = "\(SafeText(path)) \(fault.phrase)"
        case CommandFailure.unreadableEntry(let key, let error) where error.code == .corrupted:
            let reason = (error.cause as? StoreError)?.reason ?? error.message
            description =
                "the entry for '\(SafeText(key, limit: 200))' is damaged: \(SafeText(reason, limit: 1_000)); "
                + "typed-cache verify --repair removes damaged entries"
        case CommandFailure.unreadableEntry(let key, let error):
            description =
                "the entry for '\(SafeText(key, limit: 200))' cannot be read: \(SafeText(error.message, limit: 1_000))"
        case CommandFailure.unsoundEntry(let key, let error):
            description =
                "the entry for '\(SafeText(key, limit: 200))' is no sound archive: "
                + "\(SafeText("\(error)", limit: 1_000)); typed-cache verify --repair removes such entries"
        case CommandFailure.entangled(let key, let cache):
            description =
                "the entry for '\(SafeText(key, limit: 200))' refers to itself, or to the same parts too often, which "
                + "JSON cannot show; see its objects with: typed-cache dump \(cache.commandText) -- \(ShellText(key))"
        case let error as CacheError:
            description = SafeText(error.message, limit: 1_000).description
        case CommandFailure.unsoundArchive(let path, let error) where error.code == .unknownFormat:
            description = "\(SafeText(path)) is neither a keyed archive nor a cache entry"
        case CommandFailure.unsoundArchive(let path, let error):
            let place = error.offset.map { ", at byte \($0)" } ?? ""
            description = "\(SafeText(path)) is no sound archive: \(SafeText(error.message, limit: 1_000))\(place)"
        case OutputError.failed(let errno):
            description = "standard output cannot be written: \(SystemMessage(errno))"
        default:
            description = SafeText("\(error)", limit: 1_000).description
        }
    }
}

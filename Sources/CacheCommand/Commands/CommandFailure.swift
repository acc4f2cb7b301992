import ArchiveStore
import KeyedArchive
import TypedCache

/// Why a command that was understood could not be done: facts alone, the sentence is ``CommandFailureMessage``'s.
enum CommandFailure: Error, Sendable {
    case source(SourceError, SourceLocation)
    /// A signal came, for instance while a source gave nothing.
    case interrupted(signal: Int32)
    case noEntry(key: String)
    /// A command that removes entries needs a confirmation, and there is no person to ask.
    case unconfirmed(command: String)
    case noCache(MissingCache)
    /// No cache, or no app, can have the name; the rule that it breaks, in the library's words.
    case unusableName(CacheSelection, rule: String)
    /// No app can have the name.
    case unusableApp(String, rule: String)
    /// An app has no caches, though others have.
    case noApp(String, others: [String])
    /// There is no such cache on a server.
    case noSharedCache(name: String, SharedPlace)
    /// A server cannot be reached, or refuses.
    case server(SharedPlace, CacheError)
    /// A cache on a server cannot do this.
    case notOnServers
    /// The name of a type that records cannot be saved as.
    case unusableType(String)
    /// A file is of no format that is known, or damaged.
    case unreadableDocument(path: String, DocumentFault)
    /// A file holds a value that the form it is to be converted to has none for.
    case inconvertible(path: String, DocumentFault)
    /// A file cannot be read; the number is the system's.
    case unreadable(path: String, errno: Int32)
    /// A file or directory cannot be written; the number is the system's.
    case unwritable(path: String, errno: Int32)
    /// A device, a pipe or a socket is to be replaced by a file.
    case irregular(path: String)
    /// The file of a cache's entry is to be replaced.
    case entryFile(path: String)
    /// A cache has another layout than the one that is asked for.
    case otherLayout(CacheSelection, is: DiskSettings.Layout)
    /// Another export writes into the directory.
    case exportUnderWay(path: String)
    /// An export's directory holds something already.
    case notEmpty(path: String)
    /// Something that no export wrote has the name of an export's index.
    case foreignIndex(path: String)
    /// There is neither an index nor an archive in the directory that is to be imported.
    case nothingToImport(path: String)
    /// An export's index cannot be read.
    case unreadableIndex(path: String, ExportIndex.Fault)
    /// An entry's bytes have changed since the save, or cannot be read.
    case unreadableEntry(key: String, CacheError)
    /// An entry is whole, and no keyed archive.
    case unsoundEntry(key: String, ArchiveError)
    /// An entry's archive refers to itself, or to the same parts so often that it cannot be written out.
    case entangled(key: String, CacheSelection)
    /// The cache has no profile of its uses.
    case noProfile(CacheSelection)
    /// The profile has too few fetches to tell anything.
    case fewUses(Int, needed: Int)
    /// A record has a value that property lists have none for.
    case noPropertyList(key: String, DocumentFault)
    /// A cache is encrypted and its key was not given, or the other way round.
    case locked(CacheSelection, CacheError)
    /// The entries of an encrypted cache would be written readable.
    case plainExport(CacheSelection)
    /// The keys of an encrypted cache cannot be had.
    case unusableKeys(KeyPlace, KeyPlace.Fault)
}

extension CommandFailure {
    var isInterruption: Bool { if case .interrupted = self { true } else { false } }

    /// Whether a cache is encrypted, and no key was given.
    var needsKey: Bool { if case .locked(let cache, _) = self { cache.keys == nil } else { false } }

    /// Whether another command line is the remedy, as where one cannot be understood.
    var isUsage: Bool {
        switch self {
        case .unconfirmed, .unusableName, .unusableApp, .plainExport: true
        default: false
        }
    }

    /// A fault of a source, or the signal that ended its reading.
    init(_ error: SourceError, of location: SourceLocation, _ interruption: any Interruption) {
        if error == .interrupted, let signal = interruption.signal {
            self = .interrupted(signal: signal)
        } else {
            self = .source(error, location)
        }
    }
}

/// Writes the sentence for a command that could not be done: the fault and the remedy.
struct CommandFailureMessage: CustomStringConvertible {
    let error: any Error

    init(_ error: any Error) {
        self.error = error
    }

    var description: String {
        switch error {
        case let failure as CommandFailure: sentence(failure)
        case let error as CacheError where error.code == .locked: locked(error, KeyOptions.advice)
        case let error as CacheError: ServerAdvice.sentence(error.message, error)
        case OutputError.failed(let errno): "standard output cannot be written: \(SystemMessage(errno))"
        default: EscapedText("\(error)", limit: 1_000).description
        }
    }

    private func locked(_ error: CacheError, _ advice: String) -> String {
        let text = EscapedText(reason(error), limit: 1_000).description
        // No key helps a program that cannot decrypt.
        return text.contains("trait Encryption") ? text : "\(text); \(advice)"
    }

    private func keys(_ place: KeyPlace) -> String {
        switch place {
        case .file(let path): "the keys in \(EscapedText(path))"
        case .variable(let name): "the keys in the variable \(EscapedText(name))"
        }
    }

    private func phrase(_ fault: KeyPlace.Fault) -> String {
        switch fault {
        case .unreadable(let number): "cannot be read: \(SystemMessage(number))"
        case .missingVariable: "cannot be read: it is not set"
        case .noKey(let line):
            "cannot be used: line \(line) is not a number, a colon and 64 hexadecimal digits"
        case .empty: "cannot be used: there is none"
        }
    }

    private func sentence(_ failure: CommandFailure) -> String {
        switch failure {
        case .source(let error, let location):
            SourceErrorMessage(error: error, location: location).description
        case .interrupted:
            "interrupted"
        case .noEntry(let key):
            "no entry for \(quoted(key)); "
                + (isEscaped(key)
                    ? "keys that list prints are escaped: pass them on standard input, with - for KEY"
                    : "see typed-cache list")
        case .locked(let cache, let error):
            locked(error, cache.keys.map { "\(keys($0)) do not fit" } ?? KeyOptions.advice)
        case .plainExport(let cache):
            "the cache \(quoted(cache.name)) is encrypted, and an export is not; use --decrypt to write its entries "
                + "as anyone can read them"
        case .unusableKeys(let place, let fault):
            "\(keys(place)) \(phrase(fault))"
        case .unconfirmed(let command):
            "\(command) asks first, and standard input is not a terminal; use --yes to \(command) without asking"
        case .noCache(let missing):
            missing.description
        case .unusableName(let cache, let rule):
            "there can be no cache \(name(cache)); \(rule)"
        case .unusableApp(let name, let rule):
            "there can be no app \(quoted(name, limit: 80)); \(rule)"
        case .noApp(let name, let others):
            "there is no app \(quoted(name, limit: 80)) with caches; there are \(MissingCache.list(others))"
        case .noSharedCache(let name, let place):
            "no cache \(quoted(name)) on \(EscapedText(place.shownURL)); caches are found by the "
                + "prefix in the URL, ?prefix=NAME, and by their names"
        case .server(let place, let error):
            "\(EscapedText(place.shownURL)): " + ServerAdvice.sentence(reason(error), error)
        case .notOnServers:
            "this is for caches on this machine alone"
        case .unusableType(let name):
            "records cannot be saved as \(quoted(name)); use a type of the app"
        case .unreadableDocument(let path, let fault):
            "\(document(path)) cannot be read: \(fault.phrase)"
        case .inconvertible(let path, let fault):
            "\(document(path)) cannot be converted: \(fault.phrase)"
        case .unreadable(let path, let number):
            "\(EscapedText(path)) cannot be read: \(SystemMessage(number))"
        case .unwritable(let path, let number):
            "\(EscapedText(path)) cannot be written: \(SystemMessage(number))"
        case .irregular(let path):
            "\(EscapedText(path)) is not a regular file and was not replaced; use -o PATH"
        case .entryFile(let path):
            "\(EscapedText(path)) is an entry of a cache, and was not replaced; use -o PATH"
        case .otherLayout(let cache, let layout):
            "the cache \(quoted(cache.name)) has the layout \(layout.rawValue); leave --layout out, or export and import it"
        case .exportUnderWay(let path):
            "another export writes into \(EscapedText(path)); wait for its end, or use another directory"
        case .notEmpty(let path):
            "\(EscapedText(path)) is not empty; use another directory, or --force to replace an export there"
        case .foreignIndex(let path):
            "\(EscapedText(path)) was not written by export and was not replaced; use another directory"
        case .nothingToImport(let path):
            "there is nothing to import in \(EscapedText(path)): no \(ExportIndex.fileName), no .plist and no .archive"
        case .unreadableIndex(let path, let fault):
            "\(EscapedText(path)) \(fault.phrase)"
        case .unreadableEntry(let key, let error) where error.code == .corrupted:
            "\(entry(key)) is damaged: \(EscapedText(reason(error), limit: 1_000)); "
                + "typed-cache verify --repair removes damaged entries"
        case .unreadableEntry(let key, let error) where error.code == .locked:
            "\(entry(key)) cannot be read: \(locked(error, KeyOptions.advice))"
        case .unreadableEntry(let key, let error):
            "\(entry(key)) cannot be read: " + ServerAdvice.sentence(error.message, error)
        case .unsoundEntry(let key, let error):
            "\(entry(key)) is not a sound archive: \(EscapedText("\(error)", limit: 1_000)); "
                + "typed-cache verify --repair removes such entries"
        case .entangled(let key, let cache):
            "\(entry(key)) refers to itself, or to the same parts too often, which JSON cannot show; "
                + (cache.location.isShared
                    ? "get --raw gives its archive"
                    : "see its objects with: typed-cache dump \(cache.commandText) -- \(ShellText(key))")
        case .noProfile(let cache):
            "the cache \(quoted(cache.name)) has no profile of its uses; open it in the "
                + "program with MemorySettings(profilesUse: true); the profile appears after a minute, or when that closes it"
        case .fewUses(let count, let needed):
            "the profile has \(CountText(count, "fetch", plural: "fetches")) so far, too few for advice; "
                + "try again after \(CountText(needed))"
        case .noPropertyList(let key, let fault):
            "\(entry(key)) is not a property list: \(EscapedText(fault.message, limit: 1_000)); get it as JSON"
        }
    }

    private func quoted(_ name: String, limit: Int = 200) -> String { "'\(EscapedText(name, limit: limit))'" }

    private func entry(_ key: String) -> String { "the entry for \(quoted(key))" }

    private func name(_ cache: CacheSelection) -> String {
        let name = quoted(cache.name, limit: 80)
        guard case .app(let app) = cache.location else { return name }
        return "\(name) of the app \(quoted(app, limit: 80))"
    }

    /// A file as it is named in a sentence.
    private func document(_ path: String) -> String {
        path == "-" ? "standard input" : EscapedText(path).description
    }

    private func reason(_ error: CacheError) -> String { (error.cause as? StoreError)?.reason ?? error.message }

    /// Whether a key is one that a list prints in place of another.
    private func isEscaped(_ key: String) -> Bool {
        EscapedText.unescaped(key).map { !$0.utf8.elementsEqual(key.utf8) } ?? false
    }
}

/// A missing cache, and the caches that are in the directory.
struct MissingCache: Sendable, CustomStringConvertible {
    let selection: CacheSelection
    /// Where it was looked for.
    let directory: String
    /// The names of caches that are there, in order; of many, the first that were found.
    let others: [String]
    /// The name of an app that differs in case only, and has caches.
    let app: String?
    /// The names of all apps that have caches, in order.
    let apps: [String]
    /// Whether the directory is not there either.
    let lacksDirectory: Bool

    /// How many names are looked at, of which one may be meant.
    static let mostOthers = 1_000
    /// How many names are told.
    private static let mostNames = 10

    /// The fault and the remedy, in one sentence.
    var description: String {
        "no cache '\(EscapedText(selection.name, limit: 200))' in \(EscapedText(directory)); \(advice)"
    }

    private var advice: String {
        let name = selection.name.lowercased()
        if let alike = others.first(where: { $0.lowercased() == name }) {
            return "did you mean --cache \(ShellText(alike))?"
        }
        if let app { return "did you mean --app \(ShellText(app))?" }
        if !others.isEmpty { return "there are \(Self.list(others))" }
        if lacksDirectory, case .app = selection.location, !apps.isEmpty {
            return "there are the apps \(Self.list(apps))"
        }
        if case .standard = selection.location { return "name its directory with --root, or its app with --app" }
        return lacksDirectory ? "there is no such directory" : "there are no caches"
    }

    static func list(_ names: [String]) -> String {
        let shown = names.prefix(mostNames).map { "'\(EscapedText($0, limit: 80))'" }
        return shown.joined(separator: ", ") + (names.count > shown.count ? ", …" : "")
    }
}

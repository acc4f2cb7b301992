import Foundation
import Synchronization

/// A store's own directory, opened and recognized by its marker, and the drafts in it.
///
/// If the directory is removed or moved, this keeps to the old one; a store then opens another.
final class StoreFolder: Sendable {
    let path: String
    let root: Directory
    private let kind: StoreKind
    /// Whether its marker says that it is encrypted.
    private let isSealed: Bool
    private let isDurable: Bool
    private let openSession = Mutex<DraftSession?>(nil)

    /// Opens the directory at `path`, made if it is missing and `create` is true.
    ///
    /// A directory without a marker is a store's of this kind if it holds nothing but such a store's files. Without any
    /// that may have entries it counts as missing.
    ///
    /// - Parameters:
    ///   - isSealed: Whether it is one whose marker says that it is encrypted.
    ///   - prepare: Called with the path when the directory is recognized; see ``StoreSettings/prepare``.
    ///   - check: Refuses a directory that has no marker, before a marker is made.
    /// - Throws: `.invalidDirectory` if it is not a store's of this kind, and not empty either; `.unsupportedVersion` if
    ///   it is one of a later version; `.locked` if its marker says the opposite of `isSealed`; `.io`, with `ENOENT` if it
    ///   is missing and `create` is false. Nothing in it was touched then.
    init(
        path: String,
        kind: StoreKind,
        create: Bool,
        isDurable: Bool,
        isSealed: Bool = false,
        layer: FileLayer,
        prepare: (@Sendable (String) throws(StoreError) -> Void)? = nil,
        check: (Directory, StoreContents) throws(StoreError) -> Void = { _, _ in }
    ) throws(StoreError) {
        self.path = path
        self.kind = kind
        self.isDurable = isDurable
        self.isSealed = isSealed
        root = try attempt("opening the store's directory", directory: path) { () throws(SystemError) in
            do throws(SystemError) {
                return try Directory(path: path, layer: layer)
            } catch {
                guard create, error.isMissing else { throw error }
                try Directory.make(path: path, synchronized: isDurable, layer: layer)
                return try Directory(path: path, layer: layer)
            }
        }
        try recognize(create: create, check)
        try prepare?(path)
    }

    /// The session of drafts, started at the first call.
    ///
    /// Starting it does I/O under a lock: once, and a waiting caller would otherwise start another one.
    func session() throws(StoreError) -> DraftSession {
        try openSession.withLock { session throws(StoreError) in
            if let session { return session }
            let new = try DraftSession(in: root, path: path)
            session = new
            return new
        }
    }

    /// Whether this is still the directory at its path.
    func isCurrent() throws(StoreError) -> Bool {
        try attempt("looking for the store's directory", path, root.isAt(path))
    }

    /// The absolute path of `directory`, a path that was given for a store.
    static func absolutePath(_ directory: String) throws(StoreError) -> String {
        let action = "opening a store"
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw StoreError(.invalidDirectory, path: directory, action: action, reason: "this is no path")
        }
        var path = directory
        if !path.hasPrefix("/") {
            guard let current = getcwd(nil, 0) else { throw StoreError(.last, path: path, action: action) }
            defer { free(current) }
            path = String(cString: current) + "/" + path
        }
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    // MARK: - The marker

    private func recognize(
        create: Bool,
        _ check: (Directory, StoreContents) throws(StoreError) -> Void
    ) throws(StoreError) {
        if try isRecognizedByMarker(create: create) { return }
        let contents = try contents()
        if contents.isMarked, try isRecognizedByMarker(create: create) { return }
        guard contents.isOwn else { throw unmarked }
        if !create {
            // A store that is being made, or whose files were removed, has no entries: it counts as missing.
            guard contents.hasEntries else {
                throw missing
            }
            return try check(root, contents)
        }
        // Only one process at a time makes a directory a store's. Of two with different kinds, both would find it empty, and
        // the second one's marker would replace the first one's.
        try withLock { () throws(StoreError) in
            if try markedVersion() != nil { return }
            let contents = try self.contents()
            guard contents.isOwn else { throw unmarked }
            try check(root, contents)
            try mark()
        }
    }

    private func isRecognizedByMarker(create: Bool) throws(StoreError) -> Bool {
        guard let version = try markedVersion() else { return false }
        // A store opened without `create` leaves the new marker to other stores.
        if create, version < kind.version(isSealed: isSealed) { try mark() }
        return true
    }

    /// Makes the marker again if it is missing. For a process that is about to change entries, now and then.
    func restoreMarker() {
        bestEffort("the store is recognized by its files, and the next change tries again") {
            () throws(StoreError) in
            let isMarked = try attempt("looking for a store's format", markerPath) { () throws(SystemError) in
                try root.status(StoreMarker.fileName) != nil
            }
            if isMarked { return }
            if try isCurrent() { try mark() }
        }
    }

    /// A store without entries that is not to be made counts as missing.
    var missing: StoreError {
        StoreError(SystemError(number: ENOENT), path: path, action: "opening the store's directory")
    }

    private var unmarked: StoreError {
        let reason =
            "it has no file “\(StoreMarker.fileName)”, so it is not a store's; if it was one, \(StoreMarker.remedy)"
        return StoreError(.invalidDirectory, path: path, action: "opening a store", reason: reason)
    }

    private func mark() throws(StoreError) {
        // Without its name, the files tell.
        try replace(
            StoreMarker.fileName,
            with: StoreMarker.bytes(kind, isSealed: isSealed),
            isDurable: isDurable
        )
    }

    /// Replaces a small file of the directory in one step, with bytes that are on the device before the name is.
    ///
    /// - Parameter isDurable: whether to wait until the name is there, too.
    func replace(_ name: String, with bytes: [UInt8], isDurable: Bool) throws(StoreError) {
        let session = try session()
        // A name without its bytes would be a damaged file.
        let draft = try session.write(bytes, synchronized: true).name
        do throws(StoreError) {
            try attempt("writing a store's file", path + "/" + name) { () throws(SystemError) in
                try session.directory.rename(draft, to: name, in: root)
                if isDurable { try root.synchronize() }
            }
        } catch {
            session.discard(draft)
            throw error
        }
    }

    /// Runs `body` while no other process makes the directory a store's, or replaces its ``NamesFile``.
    func withLock<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try attempt("locking the store's directory", path, root.lock())
        defer { bestEffort("the lock ends when the directory is closed") { try root.unlock() } }
        return try body()
    }

    private var markerPath: String { path + "/" + StoreMarker.fileName }

    /// The version that the directory is marked with; `nil` if it is not.
    ///
    /// - Throws: as ``init(path:kind:create:isDurable:layer:)``.
    private func markedVersion() throws(StoreError) -> Int? {
        func refuse(_ reason: String) -> StoreError {
            StoreError(.invalidDirectory, path: markerPath, action: "reading a store's format", reason: reason)
        }
        let bytes: [UInt8]
        do {
            bytes = try root.regularFile(StoreMarker.fileName, StoreMarker.largestByteCount) ?? []
        } catch {
            if error.isMissing { return nil }
            throw StoreError(directory: error, path: markerPath, action: "reading a store's format")
        }
        guard let marked = StoreMarker.parse(bytes) else {
            throw refuse("it is not one that a store writes; \(StoreMarker.remedy)")
        }
        guard marked.kind == kind else {
            throw refuse(
                "it is a \(marked.kind.rawValue) store's, not a \(kind.rawValue) store's: open it as that, or export its"
                    + " entries and import them into another"
            )
        }
        guard marked.version <= kind.largestVersion else {
            let reason = "the store has format version \(marked.version), this is \(kind.largestVersion)"
            throw StoreError(.unsupportedVersion, path: markerPath, action: "opening a store", reason: reason)
        }
        if let isMarkedSealed = kind.isSealed(version: marked.version), isMarkedSealed != isSealed {
            throw isSealed ? .notEncrypted(path) : .keyMissing(path)
        }
        return marked.version
    }

    private func contents() throws(StoreError) -> StoreContents {
        try attempt("listing a directory", path) { () throws(SystemError) in
            try StoreContents(of: root, kind: kind)
        }
    }
}

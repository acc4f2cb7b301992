import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A store's own directory, opened and recognized, and what is kept open in it.
///
/// If the directory is removed or moved, this keeps to the old one; `FileStore` then opens another.
final class StoreDirectory: Sendable {
    let path: String
    let shards: [Shard]
    let root: Directory
    let journal: Journal
    let follower: JournalFollower
    let lists: EntryLists
    private let isDurable: Bool
    private let openSession = Mutex<DraftSession?>(nil)

    /// Opens the directory at `path`, made if it is missing and `create` is true.
    ///
    /// - Throws: `.invalidDirectory` if it is not a store's, and not empty either; `.unsupportedVersion` if
    ///   it is one of a later version; `.io`. Nothing in it was touched then.
    init(path: String, create: Bool, settings: StoreSettings, layer: FileLayer) throws(StoreError) {
        self.path = path
        let isDurable = settings.durability == .power
        self.isDurable = isDurable
        let root: Directory
        do throws(SystemError) {
            do throws(SystemError) {
                root = try Directory(path: path, layer: layer)
            } catch {
                guard create, error.number == ENOENT else { throw error }
                try Directory.make(path: path, synchronized: isDurable, layer: layer)
                root = try Directory(path: path, layer: layer)
            }
        } catch {
            throw StoreError(directory: error, path: path, action: "opening the store's directory")
        }
        self.root = root
        shards = (0..<EntryName.shardCount).map { Shard($0, of: root, path: path, isDurable: isDurable) }
        journal = Journal(of: root, path: path, settings: settings)
        follower = JournalFollower(of: journal)
        lists = EntryLists(of: root, path: path, isDurable: isDurable)
        try recognize(create: create)
        journal.setDrafts { [weak self] () throws(StoreError) in try self?.session() }
    }

    /// The session of drafts, started at the first call.
    ///
    /// Starting it does I/O under a lock: once, and whoever waits would otherwise start another one.
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
        do {
            return try FileStatus(path: path, layer: root.layer).identity == root.identity
        } catch {
            if error.number == ENOENT || error.number == ENOTDIR { return false }
            throw StoreError(error, path: path, action: "looking for the store's directory")
        }
    }

    /// Removes the damaged files that were kept.
    func emptyQuarantine() throws(StoreError) {
        do {
            try Quarantine(root: root).removeAll()
        } catch {
            let path = path + "/" + Quarantine.directoryName
            throw StoreError(directory: error, path: path, action: "emptying the quarantine")
        }
    }

    private func recognize(create: Bool) throws(StoreError) {
        if let version = try markedVersion() {
            // Who may not make anything leaves that to others.
            if create, version < StoreMarker.version { try mark() }
            return
        }
        guard create, try isEmpty() else {
            // Another process may have made the directory a store's meanwhile.
            if try markedVersion() != nil { return }
            let reason = "it has no file “\(StoreMarker.fileName)”, so it is not a store's"
            throw StoreError(.invalidDirectory, path: path, action: "opening a store", reason: reason)
        }
        try mark()
    }

    private func mark() throws(StoreError) {
        let session = try session()
        // The one file that is waited for: were it lost with the power, the whole store would be
        // unrecognizable.
        let draft = try session.write(StoreMarker.bytes, synchronized: true).name
        do {
            try session.directory.rename(draft, to: StoreMarker.fileName, in: root)
            if isDurable { try root.synchronize() }
        } catch {
            session.discard(draft)
            throw StoreError(error, path: markerPath, action: "marking a directory as a store's")
        }
    }

    private var markerPath: String { path + "/" + StoreMarker.fileName }

    /// The version that the directory is marked with; `nil` if it is not.
    ///
    /// - Throws: as ``init(path:create:settings:layer:)``.
    private func markedVersion() throws(StoreError) -> Int? {
        let bytes: [UInt8]
        do {
            let file = try root.file(StoreMarker.fileName)
            bytes = try file.status().isRegular ? file.read(StoreMarker.largestByteCount, at: 0) : []
        } catch {
            if error.number == ENOENT { return nil }
            throw StoreError(directory: error, path: markerPath, action: "reading a store's format")
        }
        guard let version = StoreMarker.version(of: bytes) else {
            let reason = "it is not one that a store writes"
            throw StoreError(
                .invalidDirectory,
                path: markerPath,
                action: "reading a store's format",
                reason: reason
            )
        }
        guard version <= StoreMarker.version else {
            let reason = "the store has format version \(version), this is \(StoreMarker.version)"
            throw StoreError(.unsupportedVersion, path: markerPath, action: "opening a store", reason: reason)
        }
        return version
    }

    /// What may be in a directory that counts as empty, as after a process was killed just when it made a store.
    private static let ownDirectories = [DraftSession.directoryName, Quarantine.directoryName]

    /// Whether nothing is in it that is not a store's own.
    private func isEmpty() throws(StoreError) -> Bool {
        var isEmpty = true
        do {
            try root.forEachName { name in
                isEmpty = Self.ownDirectories.contains(name)
                return isEmpty
            }
        } catch {
            throw StoreError(error, path: path, action: "listing a directory")
        }
        return isEmpty
    }
}

import Sealing
import Synchronization

/// A file store's directory, opened and recognized, with its shards, its journal and its lists.
///
/// If the directory is removed or moved, this keeps to the old one; `FileStore` then opens another.
final class StoreDirectory: Sendable {
    private let folder: StoreFolder
    let shards: [Shard]
    let journal: Journal
    let follower: JournalFollower
    let lists: EntryLists
    let names: EntryNames
    /// `nil`: the store is not encrypted.
    let sealing: EntrySealing?
    private let namesFile: NamesFileInUse?

    var path: String { folder.path }
    var root: Directory { folder.root }

    /// Opens the directory at `path`, made if it is missing and `create` is true.
    ///
    /// - Parameter naming: as in ``EntryNames``.
    /// - Throws: as ``StoreFolder``; `.locked` where the keys are not those of the store, `.invalidDirectory` if the file of
    ///   its names is damaged.
    init(
        path: String,
        create: Bool,
        settings: StoreSettings,
        layer: FileLayer,
        naming: (@Sendable (StoreKey) -> EntryName)?
    ) throws(StoreError) {
        let isDurable = settings.isDurable
        // Before anything is touched.
        let keys = try settings.keys?.keys(for: path)
        let folder = try StoreFolder(
            path: path,
            kind: .file,
            create: create,
            isDurable: isDurable,
            isSealed: keys != nil,
            layer: layer,
            prepare: settings.prepare
        ) { root, contents throws(StoreError) in
            try NamesFileInUse.check(root, contents, path: path, keys: keys)
        }
        self.folder = folder
        if let keys {
            let file = try NamesFileInUse(in: folder, keys, create: create)
            let sealing = EntrySealing(file.content, keys: keys, layer: layer)
            namesFile = file
            self.sealing = sealing
            names = EntryNames(sealing.names, naming: naming)
        } else {
            namesFile = nil
            sealing = nil
            names = EntryNames(nil, naming: naming)
        }
        let root = folder.root
        shards = (0..<EntryName.shardCount).map { Shard($0, of: root, path: path, isDurable: isDurable) }
        journal = Journal(of: root, path: path, settings: settings)
        follower = JournalFollower(of: journal)
        lists = EntryLists(of: root, path: path, names: names, isDurable: isDurable)
        journal.setDrafts { [weak folder] () throws(StoreError) in try folder?.session() }
    }

    func session() throws(StoreError) -> DraftSession { try folder.session() }

    /// Whether this is still the directory at its path, with the names that it had.
    func isCurrent() throws(StoreError) -> Bool {
        guard try folder.isCurrent() else { return false }
        return try hasItsNames()
    }

    /// Whether entries have the names that this gives them: the files of an encrypted store may all have been removed, and
    /// others put in their place, which have other names.
    func hasItsNames() throws(StoreError) -> Bool { try namesFile?.isCurrent() ?? true }

    /// Encrypts the file of the names with the current key, if it has another one.
    func renewNamesFile(_ keys: SealingKeys) throws(StoreError) { try namesFile?.renew(keys) }

    /// Removes the damaged files that were kept.
    func emptyQuarantine() throws(StoreError) {
        let path = path + "/" + Quarantine.directoryName
        try attempt("emptying the quarantine", directory: path) { () throws(SystemError) in
            try Quarantine(root: root).removeAll()
        }
    }
}

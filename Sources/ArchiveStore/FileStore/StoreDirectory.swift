/// A file store's directory, opened and recognized, with its shards, its journal and its lists.
///
/// If the directory is removed or moved, this keeps to the old one; `FileStore` then opens another.
final class StoreDirectory: Sendable {
    private let folder: StoreFolder
    let shards: [Shard]
    let journal: Journal
    let follower: JournalFollower
    let lists: EntryLists

    var path: String { folder.path }
    var root: Directory { folder.root }

    /// Opens the directory at `path`, made if it is missing and `create` is true.
    ///
    /// - Throws: as ``StoreFolder``.
    init(path: String, create: Bool, settings: StoreSettings, layer: FileLayer) throws(StoreError) {
        let isDurable = settings.isDurable
        let folder = try StoreFolder(
            path: path,
            kind: .file,
            create: create,
            isDurable: isDurable,
            layer: layer,
            prepare: settings.prepare
        )
        self.folder = folder
        let root = folder.root
        shards = (0..<EntryName.shardCount).map { Shard($0, of: root, path: path, isDurable: isDurable) }
        journal = Journal(of: root, path: path, settings: settings)
        follower = JournalFollower(of: journal)
        lists = EntryLists(of: root, path: path, isDurable: isDurable)
        journal.setDrafts { [weak folder] () throws(StoreError) in try folder?.session() }
    }

    func session() throws(StoreError) -> DraftSession { try folder.session() }

    /// Whether this is still the directory at its path.
    func isCurrent() throws(StoreError) -> Bool { try folder.isCurrent() }

    /// Removes the damaged files that were kept.
    func emptyQuarantine() throws(StoreError) {
        let path = path + "/" + Quarantine.directoryName
        try attempt("emptying the quarantine", directory: path) { () throws(SystemError) in
            try Quarantine(root: root).removeAll()
        }
    }
}

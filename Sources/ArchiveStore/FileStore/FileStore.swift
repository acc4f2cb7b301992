import Foundation
import Synchronization

/// A store with one file per entry, shared by any number of processes.
///
///     <directory>/format                                    the kind of store, and its version
///                 .drafts/<session>.lock, <session>.<n>     files that are being written
///                 .quarantine/<16 hex>.<32 hex>.<slot>       damaged files, see `Quarantine`
///                 <2 hex>/<30 hex>.<slot>                   entries, see `EntryName` and `EntryFile`
///                 journal                                   the size of each name, see `Journal`
///                 .wheel/, .tags/                           names by deadline and by tag, see `EntryLists`
///                 names                                     only of an encrypted store, see `NamesFile`
///
/// Files are `0600`, directories `0700`, and no symbolic link is followed in `directory`. A killed
/// process loses nothing. With ``StoreSettings/Durability/process``, a power failure may lose the latest saves,
/// which then are missing or reported as `.corrupted`.
///
/// If the directory is removed, or another one put in its place, fetches find nothing, or the entries of the new one,
/// and the next save makes it again.
package final class FileStore: ArchiveStore {
    package let settings: StoreSettings
    /// The absolute path of the store's directory.
    package let path: String

    let naming: (@Sendable (StoreKey) -> EntryName)?
    private let opened: Reopenable<StoreDirectory>
    private static let openedRank = LockRank("file store: the open directory", number: 200)
    /// The user to ask and tell.
    let user = Mutex(StoreUserReference())
    let sparing = Mutex(SparingAllowance())
    /// The queue on which entries are evicted before room is needed, and lists are rewritten.
    let upkeep = DispatchQueue(label: "file-store-upkeep", qos: .utility, autoreleaseFrequency: .workItem)

    /// Opens the store in `directory`, which is its own: nothing else should be in it.
    ///
    /// Reading needs no more than this: locks and drafts are made at the first save.
    ///
    /// - Parameters:
    ///   - directory: A path. Its last component is not a symbolic link.
    ///   - create: Whether the directory, and those above it, are made if missing. An empty directory counts as
    ///     missing.
    /// - Throws: `.invalidDirectory` if it is not a store's, `.unsupportedVersion` if a later version made
    ///   it, `.locked` if it is encrypted with other keys than those of `settings`, or encrypted without keys there, or the
    ///   other way round, `.io` with `ENOENT` if it is missing and `create` is false. Nothing was touched then.
    package convenience init(
        directory: String,
        create: Bool,
        settings: StoreSettings = StoreSettings()
    ) throws(StoreError) {
        try self.init(directory: directory, create: create, settings: settings, naming: nil)
    }

    /// - Parameters:
    ///   - layer: The layer that every system call goes through; tests have some calls fail.
    ///   - naming: The name that a key's entry gets, if not the usual one; tests give many keys one name.
    init(
        directory: String,
        create: Bool,
        settings: StoreSettings = StoreSettings(),
        layer: FileLayer = FileLayer(),
        naming: (@Sendable (StoreKey) -> EntryName)?
    ) throws(StoreError) {
        let path = try StoreFolder.absolutePath(directory)
        self.path = path
        self.settings = settings
        self.naming = naming
        opened = try Reopenable(
            create: create,
            pool: layer.pool,
            // One more for the file of the names.
            descriptorCount: Self.descriptorCount + (settings.keys == nil ? 0 : 1),
            rank: Self.openedRank,
            finish: Self.finish,
            willSuspend: Self.finish
        ) { create throws(StoreError) in
            try StoreDirectory(path: path, create: create, settings: settings, layer: layer, naming: naming)
        }
    }

    /// The directory, the journal, drafts and their lock, and the files of one save or fetch.
    private static let descriptorCount = 7

    deinit { opened.abandon() }

    /// Implementation: closes all open files and directories, which gives the locks back as well.
    package func close() throws(StoreError) {
        try opened.close(after: { upkeep.sync {} })
    }

    /// Writes the uses and the records that the journal lacks, before the directory is closed.
    @Sendable private static func finish(_ directory: StoreDirectory) {
        directory.journal.flushUses()
        directory.journal.flushPending()
    }

    /// As the journal has it, which a store without limits does not keep.
    package var knownSize: KnownSize? {
        let total = opened.handle?.journal.withLedger { $0.total } ?? nil
        return total.map { KnownSize(entryCount: $0.count, byteCount: $0.byteCount) }
    }

    // MARK: - The directory

    /// The open directory, made if it is missing by now.
    ///
    /// - Throws: `.closed`, `.forked`, and the errors of opening a directory.
    func current() throws(StoreError) -> StoreDirectory { try opened.current(create: true) }

    /// The open directory; `nil` if it was suspended, and is gone from the store's path.
    func currentIfPresent() throws(StoreError) -> StoreDirectory? { try opened.currentIfPresent() }

    private func tellOfLoss() { user.withLock { $0.user }?.didLoseEntries() }

    /// The directory that is at the store's path now; `nil` if there is none.
    func refreshed() throws(StoreError) -> StoreDirectory? {
        guard let directory = try currentIfPresent() else { return nil }
        if try directory.isCurrent() { return directory }
        return try opened.reopenIfPresent(directory, onLoss: tellOfLoss) ? try current() : nil
    }

    /// Runs `body` with the slots of a key's name and their shard; `nil` if it returns `nil`, or there is no such shard.
    ///
    /// Before `nil` is believed, the shard is checked to be still the one that is found by the store's path.
    func withChain<Result>(
        of key: StoreKey,
        _ body: (SlotChain, Shard) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        try askingForKeys { () throws(StoreError) in try withPresentChain(of: key, body) }
    }

    private func withPresentChain<Result>(
        of key: StoreKey,
        _ body: (SlotChain, Shard) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        var attempts = 0
        while true {
            guard let directory = try currentIfPresent() else { return nil }
            // Closing the store waits until the last reference is released.
            defer { withExtendedLifetime(directory) {} }
            let name = directory.names.name(of: key)
            let shard = directory.shards[name.shard]
            let folder = try shard.directory(create: false)
            if let folder, let result = try body(chain(name, in: folder, of: shard, directory), shard) {
                return result
            }

            let isCurrent =
                if let folder, try !shard.isNamed(folder) { false } else {
                    try folder == nil ? directory.isCurrent() : directory.hasItsNames()
                }
            attempts += 1
            if isCurrent || attempts > 2 { return nil }
            if try !opened.reopenIfPresent(directory, onLoss: tellOfLoss) { return nil }
        }
    }

    /// Runs `body`, and once more if an entry has a key that the store's user turns out to have by now: another process may
    /// have begun to use another one.
    func askingForKeys<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.code == .locked, try takeKeys() else { throw error }
        }
        return try body()
    }

    /// Asks for the keys again; returns whether there is a new one.
    func takeKeys() throws(StoreError) -> Bool {
        guard let keys = settings.keys, let sealing = opened.handle?.sealing else { return false }
        return sealing.take(try keys.keys(for: path))
    }

    /// Runs `body` with the directory at the store's path, and again with one made again if `body` finds it gone.
    func withDirectory<Result>(_ body: (StoreDirectory) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try askingForKeys { () throws(StoreError) in
            try opened.withHandle(onLoss: tellOfLoss, isGone: \.isMissingFile, body)
        }
    }

    func chain(
        _ name: EntryName,
        in folder: Directory,
        of shard: Shard,
        _ directory: StoreDirectory
    ) -> SlotChain {
        let reader = SlotReader(
            directory: folder,
            path: shard.path,
            limit: settings.archiveByteLimit,
            sealing: directory.sealing
        )
        return SlotChain(
            reader: reader,
            quarantine: shard.quarantine,
            name: name,
            names: directory.names,
            journal: directory.journal
        )
    }
}

import Foundation
import Synchronization

/// A store that appends entries to a log, shared by any number of processes.
///
///     <directory>/format                              the kind of store, and its version
///                 00000001.segment, 00000002.segment  records one after another, see `Record`
///                 index                               where entries were a while ago, see `IndexSnapshot`
///                 .drafts/                            files that are being written, see `DraftSession`
///
/// A save appends a record to the last segment; a fetch finds the record's place in memory, and reads it. A process
/// that appends has the lock of the directory (`flock`), and first applies the records that other processes have
/// appended; a process that reads checks whether the last segment has grown. A killed process loses nothing and blocks
/// no other one. With ``StoreSettings/Durability/process``, a power failure may lose records that were written lately,
/// by saves or where room was made.
///
/// Files are `0600`, directories `0700`, and no symbolic link is followed in `directory`. Room is made by dropping the
/// first segment: its live entries are rewritten at the end. No more is written again than is saved, so a byte that
/// is saved is written twice at most in the long run.
///
/// If the directory is removed, or another one put in its place, fetches find nothing, or the entries that are there
/// now, after 10 ms at the latest, and the next save makes the directory again.
///
/// If a process has many stores open, idle stores close their descriptors until their next call, see
/// ``DescriptorPool``.
package final class PackedStore: ArchiveStore {
    package let settings: StoreSettings
    /// The absolute path of the store's directory.
    package let path: String

    let hashing: @Sendable ([UInt8]) -> KeyDigest
    private let opened: Reopenable<PackedLog>
    let user: PackedStoreUser
    let upkeep = PackedUpkeep()

    /// Opens the store in `directory`, which is its own: nothing else should be in it.
    ///
    /// - Parameters:
    ///   - directory: A path whose last component is not a symbolic link.
    ///   - create: Whether the directory, and those above it, are made if missing. An empty directory counts as
    ///     missing.
    /// - Throws: `.invalidDirectory` if it is not a store's of this kind, `.unsupportedVersion` if a later version made
    ///   it, `.io` with `ENOENT` if it is missing and `create` is false. Nothing was touched then.
    package convenience init(
        directory: String,
        create: Bool,
        settings: StoreSettings = StoreSettings()
    ) throws(StoreError) {
        try self.init(directory: directory, create: create, settings: settings) { KeyDigest(hashing: $0) }
    }

    /// - Parameters:
    ///   - layer: The layer that every call to the system goes through; tests have some of them fail.
    ///   - hashing: Returns a key's digest, which is shortened; tests give many keys one hash.
    init(
        directory: String,
        create: Bool,
        settings: StoreSettings = StoreSettings(),
        layer: FileLayer = FileLayer(),
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) throws(StoreError) {
        let path = try StoreFolder.absolutePath(directory)
        self.path = path
        self.settings = settings
        let hashing: @Sendable ([UInt8]) -> KeyDigest = { hashing($0).shortened }
        self.hashing = hashing
        let user = PackedStoreUser()
        self.user = user
        let owedRemovals = OwedRemovals()
        let trust = SnapshotTrust()
        let suspended = SuspendedPosition()
        opened = try Reopenable(
            create: create,
            pool: layer.pool,
            descriptorCount: Self.descriptorCount,
            rank: PackedLocks.opened,
            finish: Self.finish,
            willSuspend: suspended.set
        ) { create throws(StoreError) in
            // Before anything is touched.
            let keys = try settings.keys?.keys(for: path)
            let folder = try StoreFolder(
                path: path,
                kind: .packed,
                create: create,
                isDurable: settings.isDurable,
                layer: layer,
                prepare: settings.prepare
            ) { root, _ throws(StoreError) in
                try SegmentTable(root: root, path: path, keys: keys).checkKeys()
            }
            return try PackedLog.open(
                in: folder,
                settings: settings,
                user: user,
                owedRemovals: owedRemovals,
                keys: keys,
                trust: trust,
                told: suspended.take(),
                hashing: hashing
            )
        }
        guard create, settings.isLimited, let log = current, log.space.exceedsLimits else { return }
        upkeep.start(layer) { [self] in current?.keepLimits() }
    }

    /// The directory, the last segment, a draft with its lock, and the index.
    private static let descriptorCount = 4

    @Sendable private static func finish(_ log: PackedLog) { log.finish() }

    deinit { opened.abandon() }

    /// Implementation: closes the open files, which gives the locks back as well.
    package func close() throws(StoreError) {
        try opened.close(after: upkeep.finish)
    }

    /// Waits until nothing is left to do in the background.
    func finishUpkeep() { upkeep.finish() }

    var archiveByteLimit: Int { settings.archiveByteLimit }

    // MARK: - The log

    /// `nil` once the store is closed, and while it is suspended; tests of open stores need not ask.
    var current: PackedLog! { opened.handle }

    /// The log that is open.
    ///
    /// - Throws: `.closed`, `.forked`.
    func openLog() throws(StoreError) -> PackedLog { try opened.current() }

    /// Runs `body` with the log at the store's path; `nil` if `body` returns `nil`, or there is no log.
    ///
    /// Before it returns `nil`, it checks that the directory is still the one at the store's path.
    ///
    /// Inlined, as is ``withDamageRemoved(_:in:_:)``: a twentieth of a fetch.
    @inline(__always)
    func withLog<Result>(_ body: (PackedLog) throws(StoreError) -> Result?) throws(StoreError) -> Result? {
        var attempts = 0
        while true {
            guard let log = try opened.currentIfPresent() else { return nil }
            // `close()` waits for the last reference.
            defer { withExtendedLifetime(log) {} }
            do throws(StoreError) {
                try log.lock.catchUp()
                if let result = try body(log) { return result }
                // If a part of the index could not be loaded, its entries only seem to be missing.
                try log.reader.status.checkIndex()
                if try log.folder.isCurrent() { return nil }
            } catch {
                // Or files are missing: the directory was emptied.
                guard error.isStale || error.isMissingFile || mayHaveOtherKeys(error) && attempts == 0 else {
                    throw error
                }
            }
            attempts += 1
            guard attempts < Reopening.mostAttempts else { throw log.reader.status.stale() }
            if try !opened.reopenIfPresent(log, onLoss: user.tellLossOfEntries) { return nil }
        }
    }

    /// Runs `body` to change the log at the store's path, in a directory made again if that is gone.
    func withWritableLog<Result>(_ body: (PackedLog) throws(StoreError) -> Result) throws(StoreError) -> Result {
        var asksForKeys = true
        return try opened.withHandle(
            onLoss: user.tellLossOfEntries,
            isGone: { error in
                if error.isStale || error.isMissingFile { return true }
                defer { if error.code == .locked { asksForKeys = false } }
                return mayHaveOtherKeys(error) && asksForKeys
            },
            body
        )
    }

    /// Whether the log is opened again because of an error, since that asks for the keys: another process may have begun to
    /// use another one.
    private func mayHaveOtherKeys(_ error: StoreError) -> Bool { error.code == .locked && settings.keys != nil }

    func key(_ text: String) throws(StoreError) -> (StoreKey, KeyDigest) {
        let key = try StoreKey(text)
        return (key, hashing(key.bytes))
    }

    /// Has upkeep run in the background if a change made it due.
    func keepUp(_ log: PackedLog) {
        guard log.needsUpkeep() else { return }
        // Not captured weakly: one weak reference would make every other one slower.
        upkeep.start(log.folder.root.layer) { [self] in current?.keepUp() }
    }
}

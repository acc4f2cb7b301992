import Dispatch
import Foundation
import Synchronization
import TypedCache

/// An account's models and lists: in memory and on disk between launches, loaded from a server where they are stale.
///
/// ```swift
/// let models = try await Models(account: "42", types: [User.self, Article.self], transport: transport)
/// let article = try await models.fetch(Article.self, id: id)          // fresh, else loaded
/// let stored = try await models.stored(Article.self, id: id)          // never asks the server
/// ```
///
/// Each model exists once, however many answers, lists and models refer to it: a change of it is seen everywhere. Reads
/// are of two kinds. A fetch loads a missing or stale model, and fails if that fails and nothing may be shown instead;
/// `stored` and `updates` give the stored model with its freshness, and never cause a request.
///
/// An account is a directory. One object of a process has it open at a time; at most one process at a time should:
/// another one's changes are not noticed. All calls may be made from any task.
public final class Models: Sendable {
    let engine: ModelEngine

    init(engine: ModelEngine) { self.engine = engine }

    /// Loads in the background end with the object, so that the account can be opened again.
    deinit { engine.loads.endUnawaited() }

    /// Opens an account, or makes it.
    ///
    /// Suspends while the disk is read and written. The caches of types and lists are opened at their first use.
    ///
    /// An account that is open in this process is not opened again before ``close()`` or ``erase()`` has returned, or the
    /// object, its observers and objects for views, and its loads and writes have ended.
    ///
    /// - Parameters:
    ///   - account: its name, 1 to 60 UTF-8 bytes; for an app with one user at a time, that user's identity.
    ///   - types: the types of all models, also the targets of links.
    ///   - directory: the directory of all accounts; by default `models` in the program's cache directory.
    ///   - encryption: whether the account's files are encrypted, and how its keys are forgotten.
    ///   - dataProtection: when a device lets its programs read the account's files; see `DiskSettings`.
    ///   - isExcludedFromBackup: whether backups of Apple's systems leave the account out, in another folder than
    ///     `Library/Caches`, which is never backed up.
    ///   - transport: the connection to the server; `nil`: nothing is loaded.
    ///   - clock: where the time comes from.
    ///   - onFailure: is told failures that no call throws: of loads in the background, of loads whose failure a stale value
    ///     stands in for (once for each load), and of the disk where a load could go on without it; and of stored models
    ///     and lists that cannot be read (`.decodingFailed`) or are damaged (`.storage`), and count as missing. Nothing is
    ///     reported of work that the end of the cache interrupts (`.closed`). Called on any thread.
    ///   - decoder: makes a decoder of JSON for an answer. Its settings are followed for dates, data, names and `userInfo`
    ///     without running it where the answer is usual JSON, which takes a fourth of the time; otherwise it decodes.
    /// - Throws: ``ModelCacheError`` with code `.invalidAccount`, `.invalidModel`, `.accountInUse`, or `.storage`: where the
    ///   account's files are damaged, or of a newer version, ``erase(account:directory:encryption:)`` deletes them; also
    ///   where the account's own directory is a symbolic link, or its key is missing or another one.
    public convenience init(
        account: String,
        types: [any CachedModel.Type],
        directory: URL? = nil,
        encryption: AccountEncryption = .none,
        dataProtection: DiskSettings.DataProtection = .automatic,
        isExcludedFromBackup: Bool = false,
        transport: (any ModelTransport)?,
        clock: some CacheClock = SystemClock(),
        onFailure: @escaping @Sendable (ModelCacheError) -> Void = { _ in },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) async throws(ModelCacheError) {
        let place = try AccountDirectory(account: account, in: directory, encryption: encryption)
        let disk = DiskSettings(dataProtection: dataProtection, isExcludedFromBackup: isExcludedFromBackup)
        let report = Self.reporting(onFailure)
        let opened = try Account(place, disk, models: types, clock: clock, report: report)
        let tables = try await opened.reading { () throws(ModelCacheError) in
            try opened.open()
            return try ModelTables(opened, clock: clock, report: report)
        }
        self.init(engine: ModelEngine(tables, transport: transport, decoder: decoder))
        // No caller has to wait for it, but ``flush()`` does.
        opened.writer.add(0) {
            if let failure = place.deleteErased() { report(failure) }
        }
    }

    /// The failures that `onFailure` gets: none for work that is under way when the program itself ends the cache.
    private static func reporting(
        _ onFailure: @escaping @Sendable (ModelCacheError) -> Void
    ) -> @Sendable (ModelCacheError) -> Void {
        { if $0.code != .closed { onFailure($0) } }
    }

    /// A cache in memory alone, which ends with the object: for tests and previews.
    ///
    /// - Throws: ``ModelCacheError`` with code `.invalidModel`.
    public static func inMemory(
        types: [any CachedModel.Type],
        transport: (any ModelTransport)?,
        clock: some CacheClock = SystemClock(),
        onFailure: @escaping @Sendable (ModelCacheError) -> Void = { _ in },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) async throws(ModelCacheError) -> Models {
        let report = reporting(onFailure)
        let account = try Account(nil, models: types, clock: clock, report: report)
        let tables = try ModelTables(account, clock: clock, report: report)
        return Models(engine: ModelEngine(tables, transport: transport, decoder: decoder))
    }

    /// Whether fetches ask the server; `.online` at first. Loads that are under way when it is set go on.
    public var mode: ConnectionMode {
        get { engine.server.mode.withLock { $0 } }
        set { engine.server.mode.withLock { $0 = newValue } }
    }

    /// Evicts the least useful models from memory until at most `count` of each type are left, and as many lists.
    ///
    /// They stay on disk, and are read from there when they are needed again. Call it when memory is scarce; on Apple
    /// platforms the caches do so by themselves. Does no disk I/O. An account in memory alone
    /// keeps all.
    ///
    /// - Parameter count: less than zero counts as zero.
    /// - Complexity: O(*n*) in the number of entries that go, on average.
    public func trimMemory(toCount count: Int) { engine.tables.account.trimMemory(toCount: count) }

    /// Encrypts everything on disk with the account's current key that has a former one.
    ///
    /// Asks the provider of ``AccountEncryption/keys(_:forget:)`` for the keys first. Suspends while the disk is read and
    /// written; other calls may be made in the meantime. Stored models of types that the account was not opened with are included.
    /// Does nothing for an account that is not encrypted, or in memory alone.
    ///
    /// - Returns: whether former keys can be forgotten: not if another process still saves with one.
    /// - Throws: ``ModelCacheError`` with code `.closed`, or `.storage`; all keys are needed then.
    public nonisolated(nonsending) func rekey() async throws(ModelCacheError) -> Bool {
        let account = engine.tables.account
        let results = try await account.reading { () throws(ModelCacheError) in try account.rekey() }
        return results.allSatisfy { $0.formerKeys.isEmpty }
    }

    // MARK: Ending

    /// Suspends until everything that was loaded is on disk.
    public nonisolated(nonsending) func flush() async { await engine.tables.account.writer.run {} }

    /// Ends loads and observers, waits until everything that was loaded is on disk, and closes every file and lock.
    ///
    /// Every later call throws `.closed`.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage`; the cache is closed then, too.
    public nonisolated(nonsending) func close() async throws(ModelCacheError) {
        engine.end()
        // After all writes that wait.
        let failure = await engine.tables.account.writer.run { [engine] in engine.tables.account.close() }
        if let failure { throw failure }
    }

    /// Erases the account, for a user who signs out: when this has returned, no file of it is on disk.
    ///
    /// Loads and changes that are under way save nothing any longer and throw `.closed`; observers end; every later call
    /// throws `.closed`. Other accounts stay as they are. If the process ends in between, the next opening of any account
    /// in the same directory deletes the rest; of this account it finds nothing.
    ///
    /// The keys of an encrypted account are forgotten first: files that are left cannot be read by anyone.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage` if files could not be deleted, or keys not be forgotten.
    public nonisolated(nonsending) func erase() async throws(ModelCacheError) {
        engine.end(isErased: true)
        let result = await engine.tables.account.writer.run { [engine] in
            Result { () throws(ModelCacheError) in try engine.tables.account.erase() }
        }
        try result.get()
    }

    /// Erases an account that is not open: one that cannot be opened, because its files are damaged or of a newer version,
    /// or that of a user who is no longer signed in.
    ///
    /// Opens nothing of it. Suspends until no file of it is on disk; does nothing for an account without files. If the process ends in
    /// between, the next opening or erasing of any account in the same directory deletes the rest. No other process may have
    /// it open.
    ///
    /// - Parameters:
    ///   - account: its name, 1 to 60 UTF-8 bytes.
    ///   - directory: the directory of all accounts; by default `models` in the program's cache directory.
    ///   - encryption: of an encrypted account, for its keys to be forgotten first.
    /// - Throws: ``ModelCacheError`` with code `.invalidAccount`; `.accountInUse` if this process has it open, and ``erase()``
    ///   does it; `.storage` if files could not be deleted, or the account's own directory is a symbolic link.
    public nonisolated(nonsending) static func erase(
        account: String,
        directory: URL? = nil,
        encryption: AccountEncryption = .none
    ) async throws(ModelCacheError) {
        let place = try AccountDirectory(account: account, in: directory, encryption: encryption)
        let result = await DispatchQueue.global(qos: .userInitiated).run {
            Result { () throws(ModelCacheError) in try place.eraseUnopened() }
        }
        try result.get()
    }

    /// Suspends until no load and no write is under way.
    package nonisolated(nonsending) func settled() async {
        repeat {
            await engine.loads.settled()
            await flush()
        } while !engine.loads.isIdle
    }

    /// How many models and lists are observed, for tests that ended observers leave nothing behind.
    package var observedCount: Int { engine.tables.bus.observedCount }
}

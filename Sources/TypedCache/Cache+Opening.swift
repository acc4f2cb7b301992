import ArchiveStore
import Foundation

// There are two of each, because no type says at run time whether it is Sendable: only the code that opens a cache may
// know.

extension Cache {
    /// Opens a cache, or makes it.
    ///
    /// Does disk I/O: opens the directory `directory/name`, and makes it if it is missing.
    ///
    /// - Parameters:
    ///   - name: one path component of 1 to 200 UTF-8 bytes without `/`, `\`, `:`, invisible characters or a
    ///     leading dot.
    ///   - directory: the directory that holds the cache's own; by default a folder named after the program, in the
    ///     user's cache directory.
    ///   - settings: the limits of the cache, and how long its entries live.
    /// - Throws: ``CacheError`` with code `.invalidName`, `.invalidDirectory` if the directory holds something
    ///   else, `.unsupportedVersion` if a newer version made it, `.io` if the file system fails. Nothing was
    ///   touched then.
    public convenience init(
        name: String,
        directory: URL? = nil,
        settings: CacheSettings<Value> = CacheSettings()
    ) throws(CacheError) {
        try self.init(name, at: CachePlace(name, in: directory, settings), settings, isSendable: false)
    }

    /// Opens a cache, or makes it.
    ///
    /// Suspends while the disk is read and written, on a thread of the cache's own. All else is as for the initializer.
    ///
    /// ```swift
    /// let pictures = try await Cache<Data>.open(name: "pictures")
    /// ```
    public nonisolated(nonsending) static func open(
        name: String,
        directory: URL? = nil,
        settings: CacheSettings<Value> = CacheSettings()
    ) async throws(CacheError) -> Cache {
        try await Cache(name, at: .inBackground(name, in: directory, settings), settings, isSendable: false)
    }

    /// Opens a cache whose entries another store has than one on disk, and which follows the changes by others there.
    ///
    /// - Parameters:
    ///   - memoryPlace: stands for a directory: the caches of one place agree.
    ///   - isSendable: whether values are known to be Sendable.
    /// - Throws: ``CacheError`` with code `.invalidName`.
    package convenience init(
        name: String,
        store: any ArchiveStore,
        memoryPlace: String,
        settings: CacheSettings<Value>,
        isSendable: Bool
    ) throws(CacheError) {
        do throws(CacheError) {
            try CacheDirectory.check(name: name)
        } catch {
            throw error.named(cache: name)
        }
        var settings = settings
        settings.disk = DiskSettings(followsOtherProcesses: true)
        self.init(
            name: name,
            directory: nil,
            store: store,
            settings: settings,
            isSendable: isSendable,
            memoryPlace: memoryPlace
        )
    }

    private convenience init(
        _ name: String,
        at place: CachePlace,
        _ settings: CacheSettings<Value>,
        isSendable: Bool
    ) {
        self.init(
            name: name,
            directory: place.directory,
            store: place.store,
            settings: settings,
            isSendable: isSendable,
            sweeps: true
        )
    }
}

extension Cache where Value: Sendable {
    /// Opens a cache of values that are known to be Sendable, or makes it. All else is as for other values.
    public convenience init(
        name: String,
        directory: URL? = nil,
        settings: CacheSettings<Value> = CacheSettings()
    ) throws(CacheError) {
        try self.init(name, at: CachePlace(name, in: directory, settings), settings, isSendable: true)
    }

    /// Opens a cache of values that are known to be Sendable, or makes it.
    ///
    /// Suspends while the disk is read and written. All else is as for other values.
    public nonisolated(nonsending) static func open(
        name: String,
        directory: URL? = nil,
        settings: CacheSettings<Value> = CacheSettings()
    ) async throws(CacheError) -> Cache {
        try await Cache(name, at: .inBackground(name, in: directory, settings), settings, isSendable: true)
    }
}

/// The place of a cache's entries: a directory, or memory alone.
private struct CachePlace: Sendable {
    /// `nil`: in memory alone.
    let directory: URL?
    let store: any ArchiveStore

    /// Opens the store. Blocks on disk I/O.
    init<Value>(_ name: String, in root: URL?, _ settings: CacheSettings<Value>) throws(CacheError) {
        do throws(CacheError) {
            guard let disk = settings.disk else {
                try CacheDirectory.check(name: name)
                (directory, store) = (nil, settings.memory.store)
                return
            }
            (directory, store) = try CacheDirectory.open(
                name,
                in: root ?? CacheDirectory.standard(),
                create: true,
                disk: disk,
                through: settings.replacingStore
            )
        } catch {
            throw error.named(cache: name)
        }
    }

    /// Opens the store, and suspends the task.
    nonisolated(nonsending) static func inBackground<Value>(
        _ name: String,
        in root: URL?,
        _ settings: CacheSettings<Value>
    ) async throws(CacheError) -> CachePlace {
        try await DiskQueues(label: name, usage: StoreUsage()).runThrowing { () throws(CacheError) in
            try CachePlace(name, in: root, settings)
        }
    }
}

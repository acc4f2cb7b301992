import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// The caches of this machine's disk, and those on servers.
struct TypedCacheBackend: CacheBackend {
    /// The program name for the command's own caches, when neither `--root` nor `--app` is given.
    private static let program = "typed-cache"

    func open(_ selection: CacheSelection) throws -> any CacheAccess {
        if case .shared(let place) = selection.location {
            return try SharedCacheAccess(selection.name, at: place, keys: selection.keys, creates: false)
        }
        return DiskCacheAccess(inspector: try inspector(selection, creating: nil))
    }

    func openOrCreate(_ selection: CacheSelection, disk: DiskSettings) throws -> any CacheAccess {
        if case .shared(let place) = selection.location {
            return try SharedCacheAccess(selection.name, at: place, keys: selection.keys, creates: true)
        }
        return DiskCacheAccess(inspector: try inspector(selection, creating: disk))
    }

    func sink(
        for selection: CacheSelection,
        disk: DiskSettings,
        content: RecordContent
    ) throws -> any RecordSink {
        if case .shared(let place) = selection.location {
            return SharedSink(
                try SharedCacheAccess(selection.name, at: place, keys: selection.keys, creates: true),
                content
            )
        }
        return CacheSink(inspector: try inspector(selection, creating: disk), content: content)
    }

    func checkingSink(for content: RecordContent) -> any RecordSink { CheckingSink(content: content) }

    func published(
        _ selection: CacheSelection
    ) throws -> (caches: [PublishedCache], faults: [CacheError]) {
        let directory = try Self.directory(of: selection.location)
        return try PublishedCache.all(in: directory.appending(path: selection.name, directoryHint: .isDirectory))
    }

    func names(at location: CacheLocation) throws -> [String] {
        if location.isShared { return [] }
        do throws(CommandFailure) {
            return CacheListing.names(in: try Self.directory(of: location))
        } catch .unreadable(_, errno: ENOENT) where location == .standard {
            // No option names that place: it is there once a cache is.
            return []
        } catch {
            guard case .unreadable(_, errno: ENOENT) = error, case .app(let name) = location else { throw error }
            let others = apps()
            throw others.isEmpty ? error : .noApp(name, others: others)
        }
    }

    func apps() -> [String] {
        let parent = CacheDirectory.standard(forProgram: Self.program).deletingLastPathComponent()
        return CacheListing.folders(in: parent).filter { app in
            !CacheListing.names(in: parent.appending(path: app, directoryHint: .isDirectory), atMost: 1).isEmpty
        }
    }

    func layout(of selection: CacheSelection) -> DiskSettings.Layout? {
        guard let root = Self.path(of: selection.location) else { return nil }
        let directory = root.appending(path: selection.name, directoryHint: .isDirectory)
        return StoreKind(directory: directory.path(percentEncoded: false)).map { $0 == .file ? .files : .packed }
    }

    func visibleFiles(of selection: CacheSelection) throws -> (files: VisibleFiles, lastChange: Date?) {
        let directory = try Self.directory(of: selection.location).appending(path: selection.name)
        do throws(StoreError) {
            let files = try VisibleFiles(inDirectory: directory.path(percentEncoded: false))
            return (files, CacheInspector.lastChange(in: directory))
        } catch {
            throw CacheError(error)
        }
    }

    func mayHave(_ selection: CacheSelection) throws -> Bool {
        if selection.location.isShared { return true }
        try Self.checkApp(of: selection.location)
        do throws(CacheError) {
            try CacheDirectory.check(name: selection.name)
        } catch {
            throw CommandFailure.unusableName(selection, rule: error.message)
        }
        return layout(of: selection) != nil
    }

    /// Where the caches at a location are; `nil` on a server.
    private static func path(of location: CacheLocation) -> URL? {
        switch location {
        case .root(let path): URL(fileURLWithPath: path, isDirectory: true)
        case .app(let name): CacheDirectory.standard(forProgram: name)
        case .standard: CacheDirectory.standard(forProgram: program)
        case .shared: nil
        }
    }

    /// The directory that holds the caches at a location.
    ///
    /// - Throws: `.unreadable` if there is none, `.unusableApp`.
    private static func directory(of location: CacheLocation) throws(CommandFailure) -> URL {
        try checkApp(of: location)
        guard let directory = path(of: location) else { throw .notOnServers }
        let path = directory.path(percentEncoded: false)
        guard let stream = opendir(path) else { throw .unreadable(path: path, errno: errno) }
        closedir(stream)
        return directory
    }

    /// - Throws: `.unusableApp`.
    private static func checkApp(of location: CacheLocation) throws(CommandFailure) {
        guard case .app(let name) = location else { return }
        do throws(CacheError) {
            try CacheDirectory.check(name: name, of: "an app")
        } catch {
            throw .unusableApp(name, rule: error.message)
        }
    }

    /// An app with a name that differs from the selected one in case only.
    private static func appAlike(_ selection: CacheSelection, _ directory: URL) -> String? {
        guard case .app(let name) = selection.location else { return nil }
        return CacheListing.folders(in: directory.deletingLastPathComponent()).first {
            $0 != name && $0.lowercased() == name.lowercased()
        }
    }

    /// - Parameter disk: the settings of a cache that may have to be made; `nil` if a missing one is an error.
    private func inspector(_ selection: CacheSelection, creating disk: DiskSettings?) throws -> CacheInspector {
        try Self.checkApp(of: selection.location)
        let root: URL? =
            if case .root(let path) = selection.location {
                URL(fileURLWithPath: path, isDirectory: true)
            } else {
                nil
            }
        var program = Self.program
        if case .app(let name) = selection.location { program = name }
        var settings = disk ?? DiskSettings()
        if let keys = selection.keys { settings.encryption = try keys.encryption() }
        do throws(CacheError) {
            return try CacheInspector(
                name: selection.name,
                root: root,
                program: program,
                create: disk != nil,
                disk: settings
            )
        } catch {
            if error.code == .invalidName {
                throw CommandFailure.unusableName(selection, rule: error.message)
            }
            if error.code == .locked { throw CommandFailure.locked(selection, error) }
            if disk == nil, error.errorNumber == ENOENT, let path = error.path {
                let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
                throw CommandFailure.noCache(
                    MissingCache(
                        selection: selection,
                        directory: directory.path,
                        others: CacheListing.names(in: directory, atMost: MissingCache.mostOthers),
                        app: Self.appAlike(selection, directory),
                        apps: apps(),
                        lacksDirectory: !FileManager.default.fileExists(atPath: directory.path)
                    )
                )
            }
            throw error
        }
    }
}

/// One cache on disk, by way of the library's inspector.
struct DiskCacheAccess: CacheAccess {
    let inspector: CacheInspector

    func statistics() throws -> StatisticsReport {
        var statistics = StatisticsReport()
        try forEachEntry { entry, isExpired in
            statistics.add(entry, isExpired: isExpired)
        } damaged: {
            statistics.damagedCount += 1
        }
        return statistics
    }

    func overview() throws -> CacheOverview {
        CacheOverview(
            layout: inspector.layout,
            entryCount: try inspector.entrySizes().count,
            byteCount: inspector.byteCountOfFiles(),
            lastChange: inspector.lastChange()
        )
    }

    func segments() throws -> [SegmentUse] { try inspector.segments() }

    func useProfile() throws -> UseProfile? { try inspector.useProfile() }

    func remove(_ key: String) throws -> Bool { try inspector.remove(forKey: key) }

    func trim(to size: SizeLimit, counting summary: inout TrimSummary) throws {
        summary.expiredCount = try inspector.removeExpired()
        summary.evictedCount = try inspector.trim(to: size.bytes)
    }

    func removeAll(mustCount: Bool) throws -> ClearSummary? {
        let (entryCount, byteCount) = try inspector.entrySizes()
        try inspector.removeAll()
        return ClearSummary(entryCount: entryCount, byteCount: byteCount)
    }

    var partCount: Int { inspector.partCount }

    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>] {
        try inspector.entries(inPart: part)
    }

    var threadCount: Int { Processors.count }

    func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, CacheError>, _ archive: [UInt8]?) -> Bool
    ) throws -> State {
        try inspector.reduceEntries(inPart: part, archivesUpTo: byteCount, into: initial, body)
    }

    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation? {
        try inspector.peek(forKey: key, pieces: body)
    }

    func remove(_ entry: EntryInformation) throws -> Bool { try inspector.remove(entry) }

    func removeDamaged() throws -> Int { try inspector.removeDamagedEntries() }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        try inspector.save(archive: archive, forKey: key, attributes: attributes, replaces: replaces)
    }

    func compact(counting summary: inout CompactSummary?) throws {
        let before = inspector.byteCountOfFiles()
        let expired = try inspector.removeExpired()
        defer {
            let after = inspector.byteCountOfFiles()
            summary = CompactSummary(expiredCount: expired, bytesBefore: before, bytesAfter: after)
        }
        _ = try inspector.compact()
    }

    func rekey(while goesOn: (Rekeying) -> Bool) throws -> Rekeyed { try inspector.rekey(while: goesOn) }

    /// Gives every readable entry to `body`, and calls `damaged` for each damaged one.
    private func forEachEntry(
        _ body: (EntryInformation, _ isExpired: Bool) -> Void,
        damaged: () -> Void
    ) throws {
        let now = Date.now
        var failure: CacheError?
        try inspector.forEachEntry { result in
            switch result {
            case .success(let entry): body(entry, entry.isExpired(at: now))
            case .failure(let error) where error.code == .corrupted: damaged()
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }
}

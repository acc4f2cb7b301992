import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// One cache, on disk or on a server, seen without knowing the types in it.
///
/// Every call may block on I/O and throws the cache's errors.
protocol CacheAccess: Sendable {
    func statistics() throws -> StatisticsReport

    /// Reads no entry, where the cache knows their number.
    func overview() throws -> CacheOverview

    /// How the cache is used; `nil` if no program keeps a profile of that.
    func useProfile() throws -> UseProfile?

    /// The bytes of each segment of a packed cache; none for one with a file for each entry.
    func segments() throws -> [SegmentUse]

    /// Removes the entry for `key`; `false` if there is none.
    func remove(_ key: String) throws -> Bool

    /// Removes expired entries, then the least useful others until the cache takes no more than `size`.
    ///
    /// - Parameter summary: gets the counts as they become known, also before an error.
    func trim(to size: SizeLimit, counting summary: inout TrimSummary) throws

    /// Removes every entry.
    ///
    /// - Parameter mustCount: whether entries are to be counted even if all of a server's keys are looked through for that.
    /// - Returns: the entries that there were; `nil` if they were not counted.
    func removeAll(mustCount: Bool) throws -> ClearSummary?

    // MARK: Whole entries

    /// In how many parts ``entries(inPart:)`` gives the entries.
    var partCount: Int { get }

    /// The entries of a part, expired or not, or why one cannot be read.
    func entries(inPart part: Int) throws -> [Result<EntryInformation, CacheError>]

    /// On how many threads parts may be read at a time.
    var threadCount: Int { get }

    /// Gives the entries of a part to `body`, until that returns `false`; with those archives that come with the entries
    /// and have no more than `byteCount` bytes.
    ///
    /// - Parameter initial: the state before the first entry; the store may begin again with it.
    func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, CacheError>, _ archive: [UInt8]?) -> Bool
    ) throws -> State

    /// Gives each entry to `body`, expired or not, or why it cannot be read, with the number of its part, until that
    /// returns `false` or a signal comes.
    func forEachListed(
        until interruption: (any Interruption)?,
        _ body: (Result<EntryInformation, CacheError>, _ part: Int) throws -> Bool
    ) throws

    /// How many entries are best read or saved by one call.
    var entriesAtOnce: Int { get }

    /// Reads the entry for `key`, expired or not, and gives its archive to `body` in pieces, until that returns `false`.
    /// Changes nothing.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `.corrupted` if it is damaged, which may show after some pieces were given.
    func peek(_ key: String, pieces body: ([UInt8]) -> Bool) throws(CacheError) -> EntryInformation?

    /// As ``peek(_:pieces:)`` for several keys, in their order; the archives are held whole.
    func peek(_ keys: [String]) -> [Result<StoredArchive?, CacheError>]

    /// Removes this very entry; `false` if it is not there any longer.
    func remove(_ entry: EntryInformation) throws -> Bool

    /// Removes every entry with damaged bytes and returns their number.
    func removeDamaged() throws -> Int

    /// Saves an archive as it is; `false` if `key` has an entry that has not expired and `replaces` is `false`.
    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool

    /// As ``save(_:forKey:attributes:replaces:)`` for several archives, in their order.
    func save(_ archives: [NewArchive], replaces: Bool) -> [Result<Bool, CacheError>]

    /// Removes expired entries and gives back the space of dead bytes.
    ///
    /// - Parameter summary: gets the result, also before an error once expired entries were removed.
    func compact(counting summary: inout CompactSummary?) throws

    /// Encrypts the entries with the first key that have a former one.
    ///
    /// - Parameter goesOn: is called now and then with the progress; rekeying ends where it returns `false`.
    func rekey(while goesOn: (Rekeying) -> Bool) throws -> Rekeyed
}

extension CacheAccess {
    func segments() throws -> [SegmentUse] { [] }

    func rekey(while goesOn: (Rekeying) -> Bool) throws -> Rekeyed { throw CommandFailure.notOnServers }

    var threadCount: Int { 1 }

    func reduceEntries<State>(
        inPart part: Int,
        archivesUpTo byteCount: Int,
        into initial: State,
        _ body: (inout State, Result<EntryInformation, CacheError>, _ archive: [UInt8]?) -> Bool
    ) throws -> State {
        var state = initial
        for entry in try entries(inPart: part) {
            guard body(&state, entry, nil) else { break }
        }
        return state
    }

    /// One part after another.
    func forEachListed(
        until interruption: (any Interruption)?,
        _ body: (Result<EntryInformation, CacheError>, _ part: Int) throws -> Bool
    ) throws {
        for part in 0..<partCount {
            guard interruption?.signal == nil else { return }
            for entry in try entries(inPart: part) {
                guard interruption?.signal == nil, try body(entry, part) else { return }
            }
        }
    }

    var entriesAtOnce: Int { 1 }

    func peek(_ keys: [String]) -> [Result<StoredArchive?, CacheError>] {
        keys.map { key in
            Result { () throws(CacheError) in
                var archive: [UInt8] = []
                let information = try peek(key) { piece in
                    archive += piece
                    return true
                }
                return information.map { StoredArchive(archive: archive, information: $0) }
            }
        }
    }

    func save(_ archives: [NewArchive], replaces: Bool) -> [Result<Bool, CacheError>] {
        archives.map { new in
            Result { () throws(CacheError) in
                try save(new.archive, forKey: new.key, attributes: new.attributes, replaces: replaces)
            }
        }
    }

    /// Gives the entries that `filter` takes to `body`, in no order, until that returns `false` or a signal comes, also
    /// where `filter` takes none.
    ///
    /// - Parameter damaged: is called with the error of each damaged entry, also where `filter` would not take the entry:
    ///   its key may be unknown.
    /// - Throws: the errors of `body` at once; at the end, the first error of reading an entry.
    func forEachEntry(
        _ filter: EntryFilter,
        at date: Date,
        until interruption: any Interruption,
        damaged: (CacheError) -> Void = { _ in },
        _ body: (EntryInformation) throws -> Bool
    ) throws {
        var failure: CacheError?
        try forEachListed(until: interruption) { entry, _ in
            switch entry {
            case .success(let entry): return try !filter.matches(entry, at: date) || body(entry)
            case .failure(let error):
                switch error.code {
                case .corrupted: damaged(error)
                // Values of other programs on a server are no entries.
                case .foreign: break
                default: failure = failure ?? error
                }
                return true
            }
        }
        if let failure { throw failure }
    }

    /// The archive of an entry that has not expired, opened. Takes the archive's memory once.
    ///
    /// - Throws: `.noEntry`, `.unreadableEntry`, `.unsoundEntry`.
    func tree(of key: String, at date: Date) throws(CommandFailure) -> ArchiveTree {
        let archive = try archive(of: key, at: date)
        do throws(ArchiveError) {
            return try ArchiveTree(sharing: archive)
        } catch {
            throw .unsoundEntry(key: key, error)
        }
    }

    /// The archive of an entry that has not expired.
    ///
    /// - Throws: `.noEntry`, `.unreadableEntry`.
    func archive(of key: String, at date: Date) throws(CommandFailure) -> Data {
        var archive = Data()
        let entry: EntryInformation?
        do throws(CacheError) {
            entry = try peek(key) { piece in
                archive.append(contentsOf: piece)
                return true
            }
        } catch {
            throw .unreadableEntry(key: key, error)
        }
        guard let entry, !entry.isExpired(at: date) else { throw .noEntry(key: key) }
        return archive
    }
}

/// Opens the caches and archives that the command works on.
protocol CacheBackend: Sendable {
    /// Opens a cache to look into it or to trim it; creates nothing.
    func open(_ selection: CacheSelection) throws -> any CacheAccess

    /// What can be read of a cache's files without its key, and when one changed. Blocks on disk I/O.
    func visibleFiles(of selection: CacheSelection) throws -> (files: VisibleFiles, lastChange: Date?)

    /// The layout of a cache that is there; `nil` if there is none, or it is on a server.
    func layout(of selection: CacheSelection) -> DiskSettings.Layout?

    /// Whether a cache is there, or on a server, where that is not known.
    ///
    /// - Throws: `.unusableName`, `.unusableApp` if there can be no such cache.
    func mayHave(_ selection: CacheSelection) throws -> Bool

    /// Opens a cache to save whole entries in it; creates it if need be.
    func openOrCreate(_ selection: CacheSelection, disk: DiskSettings) throws -> any CacheAccess

    /// Opens a cache to fill it; creates it if need be.
    func sink(for selection: CacheSelection, disk: DiskSettings, content: RecordContent) throws -> any RecordSink

    /// Takes and refuses the records that ``sink(for:disk:content:)`` would, limits of size aside, and saves none;
    /// touches no cache.
    func checkingSink(for content: RecordContent) -> any RecordSink

    /// The figures that processes publish of a cache that they have open, and why some cannot be read.
    func published(_ selection: CacheSelection) throws -> (caches: [PublishedCache], faults: [CacheError])

    /// The names of the caches at a location, in order.
    func names(at location: CacheLocation) throws -> [String]

    /// The names of apps that have caches, in order.
    func apps() -> [String]
}

extension CacheBackend {
    func visibleFiles(of selection: CacheSelection) throws -> (files: VisibleFiles, lastChange: Date?) {
        (VisibleFiles(), nil)
    }
}

import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// `import`: saves plain files as the entries of a cache.
struct Import: Subcommand {
    static let name = "import"
    static let summary = "Save the files of a directory that export wrote into a cache"
    static let discussion: String? =
        "Without an index.ndjson, saves every .plist and .archive in the directory under its name, with "
        + "percent signs decoded. Reports a file that is not a keyed archive, and skips it; imports an "
        + "interrupted export as far as it goes; the exit code is then 1. After export, this moves a cache to "
        + "another layout or another machine."
    static let examples = [
        CommandExample(
            arguments: ["import", "backup", "--cache", "cities"],
            meaning: "Import an export again"
        ),
        CommandExample(
            arguments: ["import", "backup", "--cache", "cities", "--app", "Atlas", "--keep"],
            meaning: "Add missing entries only"
        ),
        CommandExample(
            arguments: ["import", "backup", "--cache", "cities2", "--layout", "files"],
            meaning: "Move to a cache with a file for each entry"
        ),
        CommandExample(
            arguments: ["import", "backup", "--cache", "cities", "--shared", "redis://10.0.0.1/?prefix=shop"],
            meaning: "Move to a server that machines share"
        ),
    ]

    @Operand("DIR", help: "The directory to read") var path: String
    let cache = SharedCacheOptions()
    let storage = LayoutOptions()
    @Flag("keep", help: "Keep the entries that are there already, and add the others")
    var keepsPresent: Bool
    @Flag("dry-run", help: "Read and check every file, but save nothing and touch no cache") var isDryRun: Bool
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if storage.layout != nil { try cache.refuseShared(beside: "--layout", Self.self) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        // First, so that no cache is made for a directory that is not there, or has nothing for it.
        let folder = try ExchangeFolder(path: path, creating: false)
        guard try Importer.holdsAny(folder) else { throw CommandFailure.nothingToImport(path: path) }
        try storage.check(cache.selection(), in: environment.backend)
        let importer = Importer(
            folder: folder,
            cache: isDryRun ? nil : try ImportedCache(cache.selection(), storage.disk(), in: environment.backend),
            replaces: !keepsPresent,
            interruption: interruption,
            date: environment.date(),
            now: environment.now
        )
        var reporter = EntryReporter(environment.errors)
        defer { reporter.finish() }
        var summary = ImportSummary()
        let outcome = Result { try importer.run(counting: &summary, &reporter) }
        reporter.finish()
        // Entries that were saved before a failure are told all the same.
        try environment.write(
            summary.json(isDryRun: isDryRun),
            orProse: summary.prose(isDryRun: isDryRun),
            asJSON: writesJSON
        )
        try outcome.get()
        if let signal = summary.signal { return .signal(signal) }
        return summary.invalid > 0 || summary.isCutOff ? .failure : .success
    }
}

/// The cache that an import fills. A missing one is made for the first entry: an import without any leaves no cache.
final class ImportedCache {
    private var cache: (any CacheAccess)?
    private let open: () throws -> any CacheAccess

    init(_ selection: CacheSelection, _ disk: DiskSettings, in backend: any CacheBackend) throws {
        open = { try backend.openOrCreate(selection, disk: disk) }
        if try backend.mayHave(selection) { cache = try open() }
    }

    /// The cache, which is made if it is missing.
    func access() throws -> any CacheAccess {
        if let cache { return cache }
        let made = try open()
        cache = made
        return made
    }
}

/// Saves the files of a directory in a cache. Only plain files in the directory are read.
struct Importer {
    let folder: ExchangeFolder
    /// `nil` checks only.
    let cache: ImportedCache?
    /// Whether an existing entry is replaced.
    let replaces: Bool
    let interruption: any Interruption
    /// The moment by which entries are of no use any longer.
    let date: Date
    /// The time since some moment in the past.
    let now: () -> Duration

    /// Whether a directory has an index, be it one of no entries, or a file that is taken for an archive by its name.
    static func holdsAny(_ folder: ExchangeFolder) throws -> Bool {
        var holdsAny = folder.contains(ExportIndex.fileName)
        if holdsAny { return true }
        try folder.forEachName { name, _ in
            holdsAny = ArchiveFileName.isArchive(name)
            return !holdsAny
        }
        return holdsAny
    }

    /// - Throws: the errors of reading the directory or saving in the cache; entries already saved stay.
    func run(counting summary: inout ImportSummary, _ reporter: inout EntryReporter) throws {
        do {
            if let index = try ExportIndexReader(folder, interruption: interruption) {
                try run(by: index, adding: &summary, reporter: &reporter)
            } else {
                try runWithoutIndex(&summary, &reporter)
            }
        } catch SourceError.interrupted {
            // No failure: the summary has the signal.
        } catch let error as SourceError {
            throw CommandFailure.source(error, .file(folder.path(of: ExportIndex.fileName)))
        }
        summary.signal = interruption.signal
    }

    private func run(
        by index: ExportIndexReader,
        adding summary: inout ImportSummary,
        reporter: inout EntryReporter
    ) throws {
        var index = index
        var batch = Batch()
        let start = now()
        while interruption.signal == nil, let (line, read) = try index.next() {
            summary.read += 1
            do {
                try take(read.get(), at: .line(line), to: &batch, counting: &summary)
            } catch let bad as BadRecord {
                summary.invalid += 1
                reporter.complain(BadRecordMessage(bad))
            } catch let rejection as RejectedRecord {
                summary.invalid += 1
                reporter.complain(Place.line(line).complaint(rejection))
            }
            if try isFull(batch) { try save(&batch, counting: &summary, &reporter) }
            reporter.advanced(
                progress(summary, bytes: index.bytesConsumed, size: index.byteCount, elapsed: now() - start)
            )
        }
        guard interruption.signal == nil else { return }
        try save(&batch, counting: &summary, &reporter)
        if let shortfall = index.shortfall {
            summary.isCutOff = true
            reporter.complain("\(EscapedText(folder.path(of: ExportIndex.fileName))) \(shortfall.phrase)")
        }
    }

    private func runWithoutIndex(_ summary: inout ImportSummary, _ reporter: inout EntryReporter) throws {
        var batch = Batch()
        let start = now()
        try folder.forEachName { name, isText in
            guard interruption.signal == nil else { return false }
            guard ArchiveFileName.isArchive(name) else { return true }
            summary.read += 1
            do {
                guard isText else { throw RejectedRecord(reason: "its name is not UTF-8") }
                let key = try ArchiveFileName.key(of: name)
                let attributes = EntryAttributes(storedAt: date)
                let entry = ExportedEntry(file: name, key: key, attributes: attributes)
                try take(entry, at: .file(name), to: &batch, counting: &summary)
            } catch let rejection as RejectedRecord {
                summary.invalid += 1
                reporter.complain(Place.file(name).complaint(rejection))
            }
            if try isFull(batch) { try save(&batch, counting: &summary, &reporter) }
            reporter.advanced(progress(summary, bytes: 0, size: nil, elapsed: now() - start))
            return true
        }
        if interruption.signal == nil { try save(&batch, counting: &summary, &reporter) }
    }

    private func progress(_ summary: ImportSummary, bytes: Int, size: Int?, elapsed: Duration) -> Progress {
        Progress(records: summary.read, noun: "entries", bytes: bytes, size: size, elapsed: elapsed)
    }

    /// Where an entry was named.
    private enum Place {
        /// A line of the index.
        case line(Int)
        /// A file where there is no index.
        case file(String)

        func complaint(_ rejection: RejectedRecord) -> String {
            switch self {
            case .line(let line):
                BadRecordMessage(BadRecord(line: line, reason: .rejected(rejection.reason))).description
            case .file(let name): "\(EscapedText(name, limit: 300)): \(EscapedText(rejection.reason, limit: 600))"
            }
        }
    }

    /// Entries that are saved by one call.
    private struct Batch {
        var archives: [NewArchive] = []
        var places: [Place] = []
        var byteCount = 0
    }

    private static let bytesAtOnce = 4 << 20

    private func isFull(_ batch: Batch) throws -> Bool {
        if batch.archives.isEmpty { return false }
        return try batch.archives.count >= cache?.access().entriesAtOnce ?? 1 || batch.byteCount >= Self.bytesAtOnce
    }

    /// Adds one entry to the next batch.
    ///
    /// - Throws: ``RejectedRecord`` if this entry cannot be saved, but others may be.
    private func take(
        _ entry: ExportedEntry,
        at place: Place,
        to batch: inout Batch,
        counting summary: inout ImportSummary
    ) throws {
        let keyCount = entry.key.utf8.count
        guard (1...RecordKey.longest).contains(keyCount) else {
            throw RejectedRecord(reason: "a key is 1 to \(RecordKey.longest) bytes of UTF-8, not \(keyCount)")
        }
        if entry.attributes.freshness(at: date) == .useless {
            summary.expired += 1
            return
        }
        let archive = try archive(in: entry.file)
        batch.archives.append(NewArchive(key: entry.key, archive: archive, attributes: entry.attributes))
        batch.places.append(place)
        batch.byteCount += archive.count
    }

    /// Saves the entries of a batch, and empties it.
    private func save(
        _ batch: inout Batch,
        counting summary: inout ImportSummary,
        _ reporter: inout EntryReporter
    ) throws {
        if batch.archives.isEmpty { return }
        defer { batch = Batch() }
        var failure: CacheError?
        let results =
            try cache?.access().save(batch.archives, replaces: replaces)
            ?? batch.archives.map { new in
                Result { () throws(CacheError) in
                    _ = try CacheInspector.checked(new.attributes)
                    return true
                }
            }
        for (place, result) in zip(batch.places, results) {
            do throws(CacheError) {
                if try result.get() { summary.imported += 1 } else { summary.kept += 1 }
            } catch {
                switch error.code {
                case .invalidKey, .invalidTag, .tooLarge, .unsupportedVersion:
                    summary.invalid += 1
                    reporter.complain(place.complaint(RejectedRecord(reason: error.message)))
                default: failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
    }

    private func archive(in file: String) throws(RejectedRecord) -> [UInt8] {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try folder.read(file, limit: StoreSettings().maximumArchiveByteCount)
        } catch {
            throw RejectedRecord(reason: "\(file) \(error.phrase)")
        }
        do throws(ArchiveError) {
            try ArchiveTree.check(bytes)
        } catch {
            let place = error.offset.map { ", at byte \($0)" } ?? ""
            throw RejectedRecord(reason: "\(file) is not a keyed archive: \(error.message)\(place)")
        }
        return bytes
    }
}

/// The result of importing a directory.
struct ImportSummary: Sendable, Equatable {
    /// Entries looked at: all of those below together.
    var read = 0
    /// Entries that were saved, or would be.
    var imported = 0
    /// Entries that have expired since they were exported.
    var expired = 0
    /// Entries that were left alone, for their keys had entries.
    var kept = 0
    var invalid = 0
    /// Whether the index has not all entries of the export.
    var isCutOff = false
    /// The signal that ended it early, if one did.
    var signal: Int32?

    /// For people, in one line.
    func prose(isDryRun: Bool) -> String {
        "\(CountText(imported, "entry", plural: "entries")) \(isDryRun ? "valid" : "imported"), \(CountText(expired)) expired, "
            + (kept > 0 ? "\(CountText(kept)) there already, " : "")
            + "\(CountText(invalid)) invalid\(isCutOff ? ", the export is not whole" : "")"
            + (signal == nil ? "" : ", interrupted")
    }

    /// For programs.
    func json(isDryRun: Bool) -> Record {
        var record: Record = ["read": .count(read), "imported": .count(isDryRun ? 0 : imported)]
        if isDryRun { record.fields.append(RecordField(name: "valid", value: .count(imported))) }
        let rest: Record = [
            "expired": .count(expired),
            "present": .count(kept),
            "invalid": .count(invalid),
            "cutOff": .bool(isCutOff),
            "interrupted": .bool(signal != nil),
        ]
        record.fields += rest.fields
        return record
    }
}

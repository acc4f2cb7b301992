import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// `export`: writes the entries of a cache as plain files.
struct Export: Subcommand {
    static let name = "export"
    static let summary = "Write the entries of a cache into a directory, a file for each"
    static let discussion: String? =
        "Each file is a keyed archive as the app saved it, a property list that plutil reads; index.ndjson "
        + "has the keys, dates and tags. import reads all of it, into a cache of any layout. Reports damaged "
        + "entries, and leaves them out; the exit code is then 1. After Ctrl-C the written files are whole. "
        + "The files of an encrypted cache are not encrypted: they are written with --decrypt alone."
    static let examples = [
        CommandExample(
            arguments: ["export", "backup", "--cache", "cities", "--all"],
            meaning: "Write all entries, expired ones too"
        ),
        CommandExample(
            arguments: ["export", "backup", "--cache", "cities", "--force"],
            meaning: "Write in place of the last export"
        ),
    ]

    @Operand("DIR", help: "The directory to write into; made if missing, else it must be empty") var path: String
    let cache = SharedCacheOptions()
    @Flag("decrypt", help: "Write the entries of an encrypted cache, which anyone can read then") var decrypts: Bool
    @Flag("all", help: "Write expired entries too") var includesExpired: Bool
    @Flag(
        "force",
        help: "Write into a directory that is not empty: the files of an export there are removed first, all "
            + "others left alone"
    )
    var isForced: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        // First, so that no directory is made for a cache that is not there.
        let selection = try self.cache.selection()
        let cache = try environment.backend.open(selection)
        if selection.keys != nil, !decrypts { throw CommandFailure.plainExport(selection) }
        let folder = try ExchangeFolder(path: path, creating: true)
        try folder.lock()
        let exporter = Exporter(
            walk: EntryWalk(cache: cache, interruption: interruption, now: environment.now),
            folder: folder,
            includesExpired: includesExpired,
            date: environment.date()
        )
        if try !folder.isEmpty() {
            guard isForced else { throw CommandFailure.notEmpty(path: path) }
            do {
                try exporter.removeFormer()
            } catch SourceError.interrupted {
                return interruption.signal.map(ExitStatus.signal) ?? .failure
            }
        }
        var reporter = EntryReporter(environment.errors)
        defer { reporter.finish() }
        var summary = ExportSummary()
        let outcome = Result { try exporter.run(counting: &summary, &reporter) }
        reporter.finish()
        // Files that were written before a failure are told all the same.
        try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
        try outcome.get()
        if let signal = summary.signal { return .signal(signal) }
        return summary.failed > 0 ? .failure : .success
    }
}

/// Writes the entries of a cache into a directory, and an index of them.
struct Exporter {
    let walk: EntryWalk
    let folder: ExchangeFolder
    let includesExpired: Bool
    /// The moment by which entries have expired.
    let date: Date

    /// Makes room in a directory that is not empty: removes the files that an export before this one wrote, and its
    /// index last, so that it can be done again if it is stopped. Everything else stays.
    func removeFormer() throws {
        do {
            guard var index = try ExportIndexReader(folder, interruption: walk.interruption) else { return }
            while let (_, line) = try index.next() {
                // A line may name any file; an export gives its files no other names than these.
                guard case .success(let entry) = line, ArchiveFileName.isName(entry.file, of: entry.key) else {
                    continue
                }
                try folder.removeFile(entry.file)
            }
        } catch CommandFailure.unreadableIndex(let path, _) {
            throw CommandFailure.foreignIndex(path: path)
        } catch let error as SourceError where error != .interrupted {
            throw CommandFailure.source(error, .file(folder.path(of: ExportIndex.fileName)))
        }
        try folder.removeFile(ExportIndex.fileName)
    }

    /// - Throws: the errors of reading the cache or writing the files; files already written stay, and are whole.
    func run(counting summary: inout ExportSummary, _ reporter: inout EntryReporter) throws {
        let index = try folder.write(ExportIndex.line(ExportIndex.header), as: ExportIndex.fileName)
        try walk.run(reporter: &reporter) { listed, reporter in
            if case .success(let entry) = listed.entry, !includesExpired, entry.isExpired(at: date) {
                summary.expired += 1
                return
            }
            do {
                try export(listed, to: index, adding: &summary)
            } catch let finding as EntryFinding {
                summary.failed += 1
                reporter.complain(finding.complaint)
            } catch let rejection as RejectedRecord {
                summary.failed += 1
                reporter.complain(rejection.reason)
            }
        }
        summary.signal = walk.interruption.signal
        guard summary.signal == nil else { return }
        // The line of the end promises files that a failure of power does not take away.
        try folder.flush()
        try index.append(ExportIndex.line(ExportIndex.end(after: summary.exported)))
        try index.flush()
    }

    /// Writes one entry, its archive as it is inflated.
    ///
    /// - Throws: ``EntryFinding`` or ``RejectedRecord`` if this entry cannot be exported, but others may be.
    private func export(
        _ listed: EntryWalk.Listed,
        to index: AppendedFile,
        adding summary: inout ExportSummary
    ) throws {
        let key: String
        do throws(CacheError) { key = try listed.entry.get().key } catch { throw EntryFinding(error) }
        guard let name = freeName(for: key) else {
            throw RejectedRecord(
                reason: "'\(EscapedText(key, limit: 200))': something else has the name of its file"
            )
        }
        let file = try folder.beginFile(name)
        var byteCount = 0
        do {
            let entry = try EntryReader(cache: walk.cache).read(listed.entry, as: listed.archive) { piece in
                try file.append(piece)
                byteCount += piece.count
            }
            guard let entry else { return folder.giveUpFile() }
            // The line comes first, so that every file of an export is in its index, whenever it ends.
            let exported = ExportedEntry(file: name, key: key, attributes: entry.attributes)
            try index.append(ExportIndex.line(exported.record))
            try folder.endFile(name)
        } catch {
            folder.giveUpFile()
            throw error
        }
        summary.exported += 1
        summary.byteCount += byteCount
    }

    private func freeName(for key: String) -> String? {
        [ArchiveFileName.plain(key), ArchiveFileName.hashed(key)].compactMap(\.self).first { !folder.contains($0) }
    }
}

/// The result of exporting a cache.
struct ExportSummary: Sendable, Equatable {
    var exported = 0
    /// Bytes of the files.
    var byteCount = 0
    /// Entries that were left out because they have expired.
    var expired = 0
    /// Entries that could not be read.
    var failed = 0
    /// The signal that ended it early, if one did.
    var signal: Int32?

    /// For people, in one line.
    var prose: String {
        "\(CountText(exported, "entry", plural: "entries")) exported, \(ByteText(byteCount)), \(CountText(expired)) expired left out, "
            + "\(CountText(failed)) damaged or not readable\(signal == nil ? "" : ", interrupted")"
    }

    /// For programs.
    var json: Record {
        [
            "exported": .count(exported),
            "size": .count(byteCount),
            "expired": .count(expired),
            "failed": .count(failed),
            "interrupted": .bool(signal != nil),
        ]
    }
}

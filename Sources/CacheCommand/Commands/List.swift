import ArchiveStore
import Foundation
import KeyedArchive

/// `list`: prints the keys of a cache.
struct List: Subcommand {
    static let name = "list"
    static let summary = "Print the keys of a cache, one per line, escaped"
    static let discussion: String? =
        "Lists keys in no order, as they are found, unless --sort is used. Prints a backslash in a key as "
        + "two, a line feed as \\n, other invisible characters as \\u{…}; get - and remove - read keys from "
        + "standard input in this form. With --null, all of them take keys as they are; list reports a key with "
        + "a NUL in it, and the exit code is 1. Ctrl-C stops after a whole line. In caches of the library "
        + "ModelCache, --long and --json describe models and lists. Of an encrypted cache without its key, "
        + "shows on standard error, and with --json as an object, what can be seen of its files; the exit code is "
        + "then 1."
    static let examples = [
        CommandExample(
            arguments: ["list", "--cache", "cities", "--long", "--sort", "size", "--limit", "10"],
            meaning: "See the ten largest entries, and when they expire"
        ),
        CommandExample(
            arguments: ["list", "--cache", "pages", "--prefix", "user/7/", "--older-than", "30d"],
            meaning: "See a user's entries that are older than 30 days"
        ),
    ]

    let cache = SharedCacheOptions()
    let selection = SelectionOptions()
    @Option(
        "sort",
        value: "ORDER",
        help: "key, stored (the latest first), expires (the next first) or size (the largest first)",
        standard: "as they are found",
        parse: ArgumentText.word(["key": .key, "stored": .stored, "expires": .expires, "size": .size])
    )
    var order: EntryOrder?
    @Option("limit", value: "COUNT", help: "Print this many at most", parse: ArgumentText.count) var limit: Int?
    @Flag("long", help: "Show when each entry was stored, expires, and its size") var isLong: Bool
    @Flag("tags", help: "Show the tags of each entry; makes the list long") var showsTags: Bool
    @Flag("null", letter: "0", help: "Print the keys as they are, followed by a NUL each, for programs")
    var writesRawKeys: Bool
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        guard writesRawKeys else { return }
        if isLong { throw Self.failure(.conflictingOptions("--null", "--long")) }
        if showsTags { throw Self.failure(.conflictingOptions("--null", "--tags")) }
        if writesJSON { throw Self.failure(.conflictingOptions("--null", "--json")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        // The reader of a key that was cut would take it for another one.
        let interruption = environment.trapSignals()
        let selection = try self.cache.selection()
        let cache: any CacheAccess
        do {
            cache = try environment.backend.open(selection)
        } catch let failure as CommandFailure where failure.needsKey {
            try show(environment.backend.visibleFiles(of: selection).files, environment)
            throw failure
        }
        var status = ExitStatus.success
        if writesJSON {
            try writeJSON(of: cache, until: interruption, environment)
        } else if isLong || showsTags {
            try writeTable(of: cache, until: interruption, environment)
        } else if writesRawKeys {
            status = try writeRawKeys(of: cache, until: interruption, environment)
        } else {
            try forEachEntry(in: cache, at: environment.date(), until: interruption) { row in
                try environment.output.write("\(EscapedText(row.key))\n")
            }
        }
        return interruption.signal.map(ExitStatus.signal) ?? status
    }

    /// What can be seen of an encrypted cache. Not as lines on standard output, which its reader would take for keys.
    private func show(_ files: VisibleFiles, _ environment: CommandEnvironment) throws {
        if writesJSON { return try environment.write(files.json) }
        environment.errors.write(files.prose)
    }

    /// - Returns: `.failure` if a key has a NUL in it: its reader would take its parts for keys.
    private func writeRawKeys(
        of cache: any CacheAccess,
        until interruption: any Interruption,
        _ environment: CommandEnvironment
    ) throws -> ExitStatus {
        var reporter = EntryReporter(environment.errors)
        var status = ExitStatus.success
        try forEachEntry(in: cache, at: environment.date(), until: interruption) { row in
            guard !row.key.utf8.contains(0) else {
                status = .failure
                return reporter.complain(
                    "the key '\(EscapedText(row.key, limit: 200))' has a NUL in it; list it without --null"
                )
            }
            try environment.output.write("\(row.key)\0")
        }
        return status
    }

    private func writeJSON(
        of cache: any CacheAccess,
        until interruption: any Interruption,
        _ environment: CommandEnvironment
    ) throws {
        var naming = ModelNaming(in: cache, at: environment.date())
        var array = JSONArrayWriter(to: environment.output)
        try forEachEntry(in: cache, at: environment.date(), until: interruption) { row in
            try array.append(naming.name(row).json(hasTags: showsTags))
        }
        if interruption.signal == nil { try array.finish() }
    }

    private func writeTable(
        of cache: any CacheAccess,
        until interruption: any Interruption,
        _ environment: CommandEnvironment
    ) throws {
        func columns(hasModels: Bool) -> TableWriter {
            TableWriter(EntryRow.columns(hasModels: hasModels, hasTags: showsTags), to: environment.output)
        }
        var naming = ModelNaming(in: cache, at: environment.date())
        var hasModels = false
        var table: TableWriter?
        do {
            try forEachEntry(in: cache, at: environment.date(), until: interruption) { row in
                let row = naming.name(row)
                if table == nil {
                    // The first entry decides for all.
                    hasModels = row.model != nil
                    table = columns(hasModels: hasModels)
                }
                try table?.append(row.cells(hasModels: hasModels, hasTags: showsTags))
            }
        } catch {
            // Shows the entries that were found before a failure.
            try table?.finish()
            throw error
        }
        // Of no entries there is the heading, unless a signal came before the first one.
        if table == nil, interruption.signal == nil { table = columns(hasModels: false) }
        try table?.finish()
    }

    /// Gives the entries to `body` as they are found; in an order, all candidates have to be known first. A signal
    /// ends it.
    private func forEachEntry(
        in cache: any CacheAccess,
        at date: Date,
        until interruption: any Interruption,
        _ body: (EntryRow) throws -> Void
    ) throws {
        var left = limit ?? .max
        guard left > 0 else { return }
        guard let order else {
            return try cache.forEachEntry(selection.filter, at: date, until: interruption) { entry in
                try body(EntryRow(entry))
                left -= 1
                return left > 0
            }
        }
        var rows = SortedRows(order, limit: left)
        try cache.forEachEntry(selection.filter, at: date, until: interruption) { entry in
            rows.append(EntryRow(entry))
            return true
        }
        for row in rows.sorted() where interruption.signal == nil { try body(row) }
    }
}

/// The first rows in an order, of any number: no more than twice as many as are asked for are held.
struct SortedRows {
    private let order: EntryOrder
    private let limit: Int
    private var rows: [EntryRow] = []

    init(_ order: EntryOrder, limit: Int) {
        self.order = order
        self.limit = limit
    }

    mutating func append(_ row: EntryRow) {
        rows.append(row)
        if rows.count / 2 >= limit { rows = sorted() }
    }

    func sorted() -> [EntryRow] { Array(rows.sorted(by: order.isBefore).prefix(limit)) }
}

/// An order of entries in a list; equal ones are in the order of their keys' bytes.
enum EntryOrder: Sendable {
    case key
    /// The latest first.
    case stored
    /// The next first; entries that never expire come last.
    case expires
    /// The largest first.
    case size

    func isBefore(_ one: EntryRow, _ other: EntryRow) -> Bool {
        switch self {
        case .stored where one.storedAt != other.storedAt: return one.storedAt > other.storedAt
        case .expires where one.expiresAt != other.expiresAt:
            return (one.expiresAt ?? .distantFuture) < (other.expiresAt ?? .distantFuture)
        case .size where one.size != other.size:
            return one.size > other.size
        default: return one.key.utf8.lexicographicallyPrecedes(other.key.utf8)
        }
    }
}

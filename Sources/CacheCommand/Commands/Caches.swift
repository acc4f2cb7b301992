import Foundation
import KeyedArchive
import TypedCache

/// `caches`: lists the caches of an app.
struct Caches: Subcommand {
    static let name = "caches"
    static let summary = "List the caches of an app, or of all apps"
    static let discussion: String? =
        "Shows each cache's layout, its number of entries, its size on disk and its last change. With "
        + "--check, reads the head of every entry, and counts expired and damaged entries apart. Encrypted "
        + "caches are listed without their key, too, and read where it is given; the key file may have the keys of "
        + "several caches. Reports a cache that cannot be opened; the exit code is then 1."
    static let examples = [
        CommandExample(
            arguments: ["caches", "--all"],
            meaning: "See which apps have caches, and how large they are"
        ),
        CommandExample(arguments: ["caches", "--app", "atlas", "--json"], meaning: "Feed a monitor"),
    ]

    let location = LocationOptions()
    let keys = KeyOptions()
    @Flag("all", help: "List the caches of all apps of this user") var listsAllApps: Bool
    @Flag("check", help: "Count expired and damaged entries apart") var checks: Bool
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if listsAllApps, location.root != nil { throw Self.failure(.conflictingOptions("--all", "--root")) }
        if listsAllApps, location.app != nil { throw Self.failure(.conflictingOptions("--all", "--app")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        if !listsAllApps { location.reportIgnoredServer(on: environment.errors) }
        var places: [(app: String?, location: CacheLocation)] = [(nil, location.location)]
        if listsAllApps { places = environment.backend.apps().map { ($0, .app($0)) } }
        var rows: [CacheRow] = []
        var status = ExitStatus.success
        for (app, location) in places {
            for name in try environment.backend.names(at: location) {
                let selection = CacheSelection(name: name, location: location, keys: keys.place)
                do {
                    rows.append(try row(of: selection, app: app, in: environment.backend))
                } catch {
                    if case CommandFailure.locked = error {
                        rows.append(try lockedRow(of: selection, app: app, in: environment.backend))
                    }
                    status = .failure
                    environment.errors.report("\(EscapedText(name, limit: 200)): \(CommandFailureMessage(error))")
                }
            }
        }
        if writesJSON {
            try JSONWriter.write(.array(rows.map(\.json)), isIndented: true, to: environment.output)
        } else if !rows.isEmpty {
            try environment.output.write(CacheRow.table(rows).description)
        } else if status == .success {
            environment.errors.report(Self.nothing(inAllApps: listsAllApps))
        }
        return status
    }

    private func row(of selection: CacheSelection, app: String?, in backend: any CacheBackend) throws -> CacheRow {
        var cache: (any CacheAccess)?
        var isEncrypted = false
        do {
            cache = try backend.open(CacheSelection(name: selection.name, location: selection.location))
        } catch let failure as CommandFailure where failure.needsKey {
            isEncrypted = true
            // The file may have the keys of other caches.
            if selection.keys != nil { cache = try backend.open(selection) }
        }
        guard let cache else { return try lockedRow(of: selection, app: app, in: backend) }
        return CacheRow(
            app: app,
            name: selection.name,
            isEncrypted: isEncrypted,
            overview: try cache.overview(),
            statistics: checks ? try cache.statistics() : nil
        )
    }

    /// An encrypted cache without its key.
    private func lockedRow(
        of selection: CacheSelection,
        app: String?,
        in backend: any CacheBackend
    ) throws -> CacheRow {
        let (files, lastChange) = try backend.visibleFiles(of: selection)
        let overview = CacheOverview(
            layout: backend.layout(of: selection) ?? .packed,
            entryCount: nil,
            byteCount: files.byteCount,
            lastChange: lastChange
        )
        return CacheRow(app: app, name: selection.name, isEncrypted: true, overview: overview, statistics: nil)
    }

    /// The sentence where there is no cache.
    static func nothing(inAllApps isAll: Bool) -> String {
        "there are no caches; name their directory with --root" + (isAll ? "" : " or --app, or use --all")
    }
}

/// A cache without its entries.
struct CacheOverview: Sendable, Equatable {
    let layout: DiskSettings.Layout
    /// Expired and damaged entries included; `nil` for an encrypted cache without its key.
    let entryCount: Int?
    /// The bytes of all files.
    let byteCount: Int
    /// When an entry was last saved or removed; `nil` if that is not known.
    let lastChange: Date?
}

/// A cache as a list shows it.
struct CacheRow {
    /// `nil` where all are of one app.
    let app: String?
    let name: String
    var isEncrypted = false
    let overview: CacheOverview
    /// `nil` if entries were not read.
    let statistics: StatisticsReport?

    private var layoutName: String { overview.layout == .files ? "files" : "packed" }

    /// As `stats` counts them if they were read: without expired and damaged entries, which are counted apart.
    private var entryCount: Int? { statistics?.entryCount ?? overview.entryCount }

    private func cells(hasEncrypted: Bool, hasStatistics: Bool) -> [String] {
        func cell(_ count: Int?) -> String { count.map { CountText($0).description } ?? "unknown" }
        var cells = [overview.lastChange.map(InstantText.text) ?? "unknown", layoutName]
        if hasEncrypted { cells.append(isEncrypted ? "yes" : "no") }
        cells.append(cell(entryCount))
        if hasStatistics { cells += [cell(statistics?.expiredCount), cell(statistics?.damagedCount)] }
        cells.append(ByteText(overview.byteCount).description)
        if let app { cells.append(EscapedText(app).description) }
        cells.append(EscapedText(name).description)
        return cells
    }

    /// For people. The names come last: they are the only cells that have no usual width.
    static func table(_ rows: [CacheRow]) -> TextTable {
        let hasApps = rows.contains { $0.app != nil }
        let hasStatistics = rows.contains { $0.statistics != nil }
        let hasEncrypted = rows.contains { $0.isEncrypted }
        var columns: [(heading: String, alignment: TableAlignment)] = [("CHANGED", .left), ("LAYOUT", .left)]
        if hasEncrypted { columns.append(("ENCRYPTED", .left)) }
        columns.append(("ENTRIES", .right))
        if hasStatistics { columns += [("EXPIRED", .right), ("DAMAGED", .right)] }
        columns.append(("SIZE", .right))
        if hasApps { columns.append(("APP", .left)) }
        columns.append(("CACHE", .left))
        var table = TextTable(columns)
        for row in rows { table.append(row.cells(hasEncrypted: hasEncrypted, hasStatistics: hasStatistics)) }
        return table
    }

    /// For programs.
    var json: RecordValue {
        var record: Record = [
            "cache": .string(name),
            "layout": .string(layoutName),
            "encrypted": .bool(isEncrypted),
            "entries": entryCount.map(RecordValue.count) ?? .null,
            "size": .count(overview.byteCount),
            "changedAt": overview.lastChange.map(RecordValue.date) ?? .null,
        ]
        if let app { record.fields.insert(RecordField(name: "app", value: .string(app)), at: 0) }
        if let statistics {
            record.fields.append(RecordField(name: "expired", value: .count(statistics.expiredCount)))
            record.fields.append(RecordField(name: "damaged", value: .count(statistics.damagedCount)))
        }
        return .object(record)
    }
}

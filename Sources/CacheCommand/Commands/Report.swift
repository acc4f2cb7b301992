import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// `report`: writes a page about a cache.
struct Report: Subcommand {
    static let name = "report"
    static let summary = "Write a page about a cache: space, sizes, ages, deadlines, findings"
    static let discussion: String? =
        "The page is one HTML file that needs no other and runs no script. It shows the space of entries by prefix "
        + "(a key's part up to its first / or :) and by tag, their sizes, ages and deadlines, compression, segments, the "
        + "advice on memory if the cache has a profile, and findings in words. Reads the head of every entry, and "
        + "changes nothing."
    static let examples = [
        CommandExample(
            arguments: ["report", "--cache", "cities", "--output", "report.html"],
            meaning: "Write a page to open in a browser"
        ),
        CommandExample(arguments: ["report", "--cache", "cities", "--json"], meaning: "Get the same numbers"),
    ]

    let cache = CacheOptions()
    @Option(
        "output",
        letter: "o",
        value: "FILE",
        help: "Write to this file, whole or not at all, or to a device or pipe; - is standard output",
        standard: "standard output",
        parse: ArgumentText.nonEmpty("a file")
    )
    var path: String?
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let selection = self.cache.selection
        let cache = try environment.backend.open(selection)
        let walk = EntryWalk(cache: cache, interruption: interruption, now: environment.now)
        var reporter = EntryReporter(environment.errors)
        defer { reporter.finish() }
        var census = EntryCensus(at: environment.date())
        try walk.run(reporter: &reporter) { listed, _ in try census.count(listed.entry, in: cache) }
        reporter.finish()
        if let signal = interruption.signal { return .signal(signal) }
        let contents = ReportContents(
            selection: selection,
            host: HostName.current,
            overview: try cache.overview(),
            census: census,
            segments: try cache.segments(),
            profile: Self.profile(of: cache, environment)
        )
        let text =
            writesJSON
            ? JSONWriter.text(.object(contents.json), isIndented: true) + "\n" : ReportPage(contents).description
        if let path, path != "-" {
            try DocumentFile.write(Array(text.utf8), to: path, in: environment, until: interruption)
        } else {
            try environment.output.write(text)
        }
        return .success
    }

    /// A profile that cannot be read leaves the rest of the page as it is.
    private static func profile(of cache: any CacheAccess, _ environment: CommandEnvironment) -> UseProfile? {
        do {
            return try cache.useProfile()
        } catch {
            environment.errors.report(CommandFailureMessage(error))
            return nil
        }
    }
}

/// The numbers of a report.
struct ReportContents {
    let selection: CacheSelection
    /// The machine's name; `nil` if the system does not tell it.
    let host: String?
    let overview: CacheOverview
    let census: EntryCensus
    let segments: [SegmentUse]
    let profile: UseProfile?

    var name: String { selection.name }

    /// The app or the directory, and the machine, in one line.
    var place: String {
        let owner =
            switch selection.location {
            case .root(let path): "in \(path)"
            case .app(let app): "of the app \(app)"
            case .standard: "of this user's command"
            case .shared(let place): "on \(place.shownURL)"
            }
        return owner + (host.map { ", on \($0)" } ?? "")
    }

    var advice: SizeAdvice? { profile.flatMap { SizeAdvice($0) } }
    private var adviceText: SizeAdviceText? {
        guard let profile, let advice else { return nil }
        return SizeAdviceText(advice, profile)
    }
    var deadByteCount: Int { segments.reduce(0) { $0 + $1.deadByteCount } }
    var segmentByteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }

    /// Faults and wastes in words, and the remedy; empty where nothing stands out.
    var findings: [ReportFinding] {
        let found = [damaged, expired, unread, old, dead, commonPrefix, largest, neverExpiring].compactMap(\.self)
        return found + (adviceText?.findings ?? []).map { ReportFinding($0) }
    }

    private var damaged: ReportFinding? {
        guard census.damagedCount > 0 else { return nil }
        return ReportFinding(
            "\(CountText(census.damagedCount, "entry is", plural: "entries are")) damaged; "
                + "typed-cache verify --repair removes them."
        )
    }

    private var expired: ReportFinding? {
        let expired = census.expired
        guard share(expired.byteCount) >= 0.05 else { return nil }
        return taken(
            expired.byteCount,
            by: "\(CountText(expired.count, "entry that has", plural: "entries that have")) expired; "
                + "typed-cache compact frees them."
        )
    }

    private var unread: ReportFinding? {
        guard share(census.unread.byteCount) >= 0.1 else { return nil }
        return taken(census.unread.byteCount, by: "entries that were not read for 30 days.")
    }

    private var old: ReportFinding? {
        guard share(census.oldByteCount) >= 0.25 else { return nil }
        return taken(census.oldByteCount, by: "entries that were saved more than 30 days ago.")
    }

    private var dead: ReportFinding? {
        guard segmentByteCount > 1 << 20, deadByteCount * 4 >= segmentByteCount else { return nil }
        return ReportFinding(
            "\(Self.words(Double(deadByteCount) / Double(segmentByteCount))) of the segments' bytes are dead: "
                + "entries that were removed or saved over; typed-cache compact frees them."
        )
    }

    private var commonPrefix: ReportFinding? {
        guard census.count >= 10, census.prefixes.count > 1, let first = census.prefixes.largest(1).first,
            share(first.tally.byteCount) >= 0.5, !first.name.isEmpty
        else { return nil }
        return taken(first.tally.byteCount, by: "keys that begin with ", name: first.name, ".")
    }

    private var largest: ReportFinding? {
        guard census.count >= 10, let largest = census.largest.first, share(largest.byteCount) >= 0.1
        else { return nil }
        return ReportFinding(
            "One entry takes \(SizeAdviceText.percent(share(largest.byteCount))) of the space: ",
            name: largest.key,
            ", \(ByteText(largest.byteCount))."
        )
    }

    private var neverExpiring: ReportFinding? {
        let never = census.neverExpiring
        guard census.count >= 10, share(never.byteCount) >= 0.5, overview.byteCount > 64 << 20
        else { return nil }
        return taken(never.byteCount, by: "entries that never expire.")
    }

    private func taken(
        _ byteCount: Int,
        by taker: String,
        name: String? = nil,
        _ end: String = ""
    ) -> ReportFinding {
        ReportFinding("\(Self.words(share(byteCount))) of the space is taken by \(taker)", name: name, end)
    }

    private func share(_ byteCount: Int) -> Double { Double(byteCount) / Double(max(1, census.byteCount)) }

    /// A share as people say it, to begin a sentence with.
    static func words(_ share: Double) -> String {
        switch share {
        case 0.97...: "Nearly all"
        case 0.7..<0.8: "Three quarters"
        case 0.63..<0.7: "Two thirds"
        case 0.47..<0.53: "Half"
        case 0.31..<0.36: "A third"
        case 0.23..<0.27: "A quarter"
        default: SizeAdviceText.percent(share)
        }
    }

    /// For programs.
    var json: Record {
        func groups(_ groups: EntryGroups) -> RecordValue {
            .array(
                groups.largest(EntryGroups.mostShown).map { group in
                    .object([
                        "name": .string(group.name), "entries": .count(group.tally.count),
                        "size": .count(group.tally.byteCount),
                    ])
                }
            )
        }
        func classes(_ classes: [TallyClass]) -> RecordValue {
            .array(
                classes.map { found in
                    .object([
                        "class": .string(found.name), "entries": .count(found.tally.count),
                        "size": .count(found.tally.byteCount),
                    ])
                }
            )
        }
        return [
            "cache": .string(name),
            "place": .string(place),
            "layout": .string(overview.layout.rawValue),
            "at": .date(census.date),
            "entries": .count(census.count),
            "damaged": .count(census.damagedCount),
            "size": .count(census.byteCount),
            "archiveSize": .count(census.archiveByteCount),
            "fileSize": .count(overview.byteCount),
            "changedAt": overview.lastChange.map(RecordValue.date) ?? .null,
            "findings": .array(findings.map { .string($0.description) }),
            "prefixes": groups(census.prefixes),
            "tags": groups(census.tags),
            "sizes": classes(census.sizes),
            "ages": classes(census.ages),
            "deadlines": classes(census.deadlines),
            "unread": .object(["entries": .count(census.unread.count), "size": .count(census.unread.byteCount)]),
            "sample": .object([
                "entries": .count(census.sample.count), "archiveSize": .count(census.sample.archiveByteCount),
                "size": .count(census.sample.byteCount),
                "sizeAlone": .count(census.sample.aloneByteCount),
            ]),
            "segments": .array(
                segments.map { segment in
                    .object([
                        "number": .count(segment.number), "size": .count(segment.byteCount),
                        "live": .count(segment.liveByteCount), "dead": .count(segment.deadByteCount),
                    ])
                }
            ),
            "largest": .array(
                census.largest.map { .object(["key": .string($0.key), "size": .count($0.byteCount)]) }
            ),
            "advice": adviceText.map { .object($0.json) } ?? .null,
        ]
    }
}

/// A sentence of a report, with the name that it is about, if there is one.
struct ReportFinding: CustomStringConvertible {
    /// How many characters of a name are shown at most.
    static let longestName = 60

    let beginning: String
    /// As it is in the cache, not escaped.
    let name: String?
    let end: String

    init(_ beginning: String, name: String? = nil, _ end: String = "") {
        self.beginning = beginning
        self.name = name
        self.end = end
    }

    var description: String {
        beginning + (name.map { "“\(EscapedText($0, limit: Self.longestName))”" } ?? "") + end
    }
}

import Foundation
import KeyedArchive
import TypedCache

/// `advise`: estimates the hits of other sizes of memory.
struct Advise: Subcommand {
    static let name = "advise"
    static let summary = "Show how many fetches a larger or smaller memory would answer"
    static let discussion: String? =
        "Reads the profile that a program keeps beside the cache if it opens it with MemorySettings(profilesUse: true), "
        + "and draws the share of fetches that memory of each size answers: under the cache's own policy, and if the "
        + "least recently used entry were evicted first (LRU). The shares are estimates from a sample of the keys. "
        + "Sizes are bytes as memory counts them."
    static let examples = [
        CommandExample(arguments: ["advise", "--cache", "cities", "--app", "atlas"], meaning: "See the curve"),
        CommandExample(
            arguments: ["advise", "--cache", "cities", "--json"],
            meaning: "Get its points, the knee and the present limit"
        ),
    ]

    let cache = CacheOptions()
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let selection = cache.selection
        let cache = try environment.backend.open(selection)
        guard let profile = try cache.useProfile() else { throw CommandFailure.noProfile(selection) }
        guard let advice = SizeAdvice(profile) else {
            throw CommandFailure.fewUses(Int(profile.uses), needed: Int(SizeAdvice.fewestUses))
        }
        let text = SizeAdviceText(advice, profile)
        guard !writesJSON else {
            try environment.write(text.json)
            return .success
        }
        let columns = environment.output.columns
        let chart = CurveChart(advice, columns: columns ?? 80, usesBraille: columns != nil && Locale.hasUTF8)
        try environment.output.write(chart.description + "\n")
        for sentence in text.sentences { try environment.output.write(sentence + "\n") }
        return .success
    }
}

extension Locale {
    /// Whether the environment says that terminals take UTF-8, by the variables of POSIX in their order.
    fileprivate static var hasUTF8: Bool {
        let variables = ProcessInfo.processInfo.environment
        let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
        guard let name = name?.lowercased() else { return false }
        return name.contains("utf-8") || name.contains("utf8")
    }
}

/// Advice on sizes in words, and for programs.
struct SizeAdviceText {
    private let advice: SizeAdvice
    private let profile: UseProfile

    init(_ advice: SizeAdvice, _ profile: UseProfile) {
        self.advice = advice
        self.profile = profile
    }

    static func percent(_ share: Double) -> String { "\(DecimalText(100 * share, fractionDigits: 1)) %" }

    private static func points(_ share: Double) -> String {
        "\(DecimalText(100 * share.magnitude, fractionDigits: 1)) points \(share < 0 ? "less" : "more")"
    }

    /// Facts first, then the size of memory that is worth choosing.
    var sentences: [String] {
        var sentences = [
            "\(CountText(Int(profile.uses)).description) fetches until \(InstantText.text(profile.updatedAt.wholeSecond)), "
                + "older ones counting less; memory answered \(Self.percent(profile.measuredHitRatio)) of them."
        ]
        if let knee = advice.knee {
            sentences.append(
                "The knee is at \(ByteText(knee.byteCount)): \(Self.percent(knee.hitRatio)); "
                    + "more memory brings at most \(DecimalText(100 * max(0, most - knee.hitRatio), fractionDigits: 1)) points."
            )
        } else {
            sentences.append("No size of memory answers a fetch: no key is fetched again before it is saved over.")
        }
        sentences += comparison
        return sentences
    }

    private var most: Double { advice.points.map(\.hitRatio).max() ?? 0 }

    /// The present limit beside half of it and twice as much.
    private var comparison: [String] {
        guard let limit = profile.byteLimit else { return ["Memory has no limit of bytes."] }
        guard limit > 0 else { return ["Memory keeps nothing: its limit is 0 bytes."] }
        guard let present = advice.present else {
            return [
                "The limit of \(ByteText(limit)) is smaller than every size that was simulated; the smallest, "
                    + "\(ByteText(advice.points[0].byteCount)), would answer \(Self.percent(advice.points[0].hitRatio))."
            ]
        }
        var sentences = [
            "The present limit, \(ByteText(limit)), gives an estimated \(Self.percent(present.hitRatio))."
        ]
        let gain = (profile.hitRatio(2 * Double(limit)) ?? present.hitRatio) - present.hitRatio
        if gain < 0.005 {
            sentences.append("More memory would bring next to nothing.")
        } else {
            sentences.append("Twice as much, \(ByteText(2 * limit)), would answer \(Self.points(gain)).")
        }
        if let half = profile.hitRatio(Double(limit) / 2) {
            let loss = present.hitRatio - half
            sentences.append(
                loss < 0.005
                    ? "Half of it, \(ByteText(limit / 2)), would do as well."
                    : "Half of it, \(ByteText(limit / 2)), would answer \(Self.points(-loss))."
            )
        }
        return sentences
    }

    /// The sentences with the advice; empty if memory has about the right size.
    var findings: [String] {
        guard let limit = profile.byteLimit, limit > 0, let knee = advice.knee, let present = advice.present else {
            return []
        }
        if knee.byteCount * 2 <= limit {
            return [
                "Memory may be smaller: \(ByteText(knee.byteCount)) instead of \(ByteText(limit)) would answer "
                    + "\(Self.percent(knee.hitRatio)) of the fetches, not \(Self.percent(present.hitRatio))."
            ]
        }
        guard knee.byteCount > limit, knee.hitRatio - present.hitRatio >= 0.02 else { return [] }
        return [
            "More memory would help: \(ByteText(knee.byteCount)) instead of \(ByteText(limit)) would answer "
                + "\(Self.percent(knee.hitRatio)) of the fetches, not \(Self.percent(present.hitRatio))."
        ]
    }

    private static func json(_ point: SizeAdvice.Point?) -> RecordValue {
        guard let point else { return .null }
        let rounded = { (share: Double) in RecordValue.double((share * 10_000).rounded() / 10_000) }
        return .object([
            "size": .count(point.byteCount), "hitRatio": rounded(point.hitRatio),
            "lruHitRatio": rounded(point.leastRecentlyUsed),
        ])
    }

    /// For programs.
    var json: Record {
        [
            "fetches": .count(Int(profile.uses)),
            "memoryHits": .count(Int(profile.memoryHits)),
            "since": .date(profile.startedAt.wholeSecond),
            "until": .date(profile.updatedAt.wholeSecond),
            "limit": profile.byteLimit.map(RecordValue.count) ?? .null,
            "present": Self.json(advice.present),
            "knee": Self.json(advice.knee),
            "points": .array(advice.points.map { Self.json($0) }),
        ]
    }
}

extension Date {
    fileprivate var wholeSecond: Date {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate.rounded(.down))
    }
}

import Foundation
import KeyedArchive
import TestSupport

@testable import CacheCommand
@testable import TypedCache

/// Samples of the live view, made up from a seed.
struct LiveTrials {
    var random: SeededGenerator

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    static let names = [
        "cities", "a", "pictures-of-the-day-in-very-large-size-and-with-a-long-name", "長い名前のキャッシュ",
        "🦁🦁🦁🦁🦁🦁🦁🦁🦁🦁", "\u{1B}[2J\u{1B}[31mred", "line\nfeed", "right \u{202E}left", "e\u{301}\u{301}\u{301}", "👩‍👩‍👧‍👦",
        "tab\tand\rreturn", "☎\u{FE0F}☎\u{FE0F}", "\u{200B}\u{FEFF}", "ﷺ ﷽",
        String(repeating: "\u{300}", count: 40), "",
    ]

    static func isHostile(_ text: String) -> Bool { text.unicodeScalars.contains(where: \.isHostile) }

    mutating func number() -> Int {
        [0, 1, 999, 1_000, 123_456, PublishedStatistics.largestNumber].randomElement(using: &random) ?? 0
    }

    mutating func statistics() -> CacheStatistics {
        CacheStatistics(
            memoryHits: number(),
            diskHits: number(),
            staleHits: number(),
            misses: number(),
            joins: number(),
            loads: number(),
            loadTime: .microseconds(number()),
            saves: number(),
            memoryEvictions: number(),
            diskEvictions: number()
        )
    }

    mutating func tier() -> TierFigures {
        var tier = TierFigures()
        if Bool.random(using: &random) { tier.byteCount = number() }
        if Bool.random(using: &random) { tier.byteLimit = number() }
        return tier
    }

    mutating func name() -> String { Self.names.randomElement(using: &random) ?? "" }

    mutating func process(at date: Date) -> LiveProcess {
        var figures = CacheFigures()
        figures.statistics = statistics()
        figures.memory = tier()
        figures.disk = tier()
        let statistics = PublishedStatistics(
            processIdentifier: number() % Int(Int32.max),
            program: name(),
            openedAt: date - 100,
            publishedAt: date - [0, 5, 1_000].randomElement(using: &random)!,
            figures: figures
        )
        return LiveProcess(
            app: Bool.random(using: &random) ? nil : name(),
            cache: name(),
            published: PublishedCache(isLive: Bool.random(using: &random), statistics: statistics)
        )
    }

    mutating func sample(_ count: Int, at date: Date) -> LiveSample {
        let faults =
            Bool.random(using: &random) ? [] : ["\(name()): something is wrong, at great length, or so it seems"]
        return LiveSample(
            date: date,
            processes: (0..<count).map { _ in process(at: date) },
            quietCaches: Bool.random(using: &random) ? [] : ["x"],
            faults: faults.map { EscapedText($0).description }
        )
    }

    mutating func view() -> LiveView {
        LiveView(
            order: LiveView.Order.allCases.randomElement(using: &random)!,
            isReversed: Bool.random(using: &random),
            filter: Int.random(in: 0..<4, using: &random) == 0 ? name() : "",
            mode: [.rows, .rows, .filtering, .help].randomElement(using: &random)!,
            isPaused: Bool.random(using: &random),
            offset: Int.random(in: 0..<30, using: &random)
        )
    }
}

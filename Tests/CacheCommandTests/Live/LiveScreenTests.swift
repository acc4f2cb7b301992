import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The live view apart from a terminal: from a state to lines.
@Suite struct LiveScreenTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 8e8)

    private func process(
        _ cache: String,
        pid: Int = 7,
        hits: Int = 0,
        misses: Int = 0,
        seconds: Double = 0,
        isLive: Bool = true
    ) -> LiveProcess {
        var figures = CacheFigures()
        figures.statistics = CacheStatistics(memoryHits: hits, misses: misses)
        figures.memory.byteCount = 12 << 20
        figures.memory.byteLimit = 64 << 20
        let statistics = PublishedStatistics(
            processIdentifier: pid,
            program: "atlas",
            openedAt: Self.date,
            publishedAt: Self.date + seconds,
            figures: figures
        )
        return LiveProcess(
            app: nil,
            cache: cache,
            published: PublishedCache(isLive: isLive, statistics: statistics)
        )
    }

    private func rows(_ looks: [[LiveProcess]]) -> [LiveRow] {
        var history = LiveHistory()
        for (second, processes) in looks.enumerated() {
            history.add(LiveSample(date: Self.date + Double(second), processes: processes))
        }
        return history.rows
    }

    private func screen(_ rows: [LiveRow], _ view: LiveView = LiveView(), isUnicode: Bool = true) -> LiveScreen {
        LiveScreen(
            sample: LiveSample(date: Self.date),
            rows: rows,
            view: view,
            interval: .seconds(1),
            isUnicode: isUnicode
        )
    }

    // MARK: Laws

    @Test("No line is wider than the terminal, and none has a control character", arguments: seeds(0..<100))
    func widths(seed: Int) {
        var trials = LiveTrials(seed: seed)
        var history = LiveHistory()
        for second in 0..<Int.random(in: 1...4, using: &trials.random) {
            history.add(
                trials.sample(Int.random(in: 0...30, using: &trials.random), at: Self.date + Double(second))
            )
        }
        let sample = trials.sample(0, at: Self.date)
        for columns in variants([[0, 1, 2, 7, 8], [20, 39, 40], [41, 80, 81], [133, 200, 1_000]], at: seed).joined()
        {
            for height in variants([[0, 1, 2], [5, 10], [24, 60]], at: seed / 4).joined() {
                let isUnicode = Bool.random(using: &trials.random)
                let screen = LiveScreen(
                    sample: sample,
                    rows: history.rows,
                    view: trials.view(),
                    interval: .seconds(1),
                    isUnicode: isUnicode
                )
                let lines = screen.lines(columns: columns, rows: height)
                #expect(lines.count == (columns == 0 ? 0 : height))
                for line in lines {
                    #expect(DisplayWidth.of(line.text) == columns, "\(columns)×\(height): \(line.text)")
                    #expect(!LiveTrials.isHostile(line.text))
                }
            }
        }
    }

    @Test("Plain tables have no control characters either", arguments: seeds(0..<50))
    func plainTables(seed: Int) {
        var trials = LiveTrials(seed: seed)
        var history = LiveHistory()
        history.add(trials.sample(20, at: Self.date))
        for showsRates in [false, true] {
            let (heading, rows) = LiveTable(isUnicode: true, showsRates: showsRates).lines(history.rows, width: nil)
            #expect(Set((rows + [heading]).map(DisplayWidth.of)).count == 1)
            #expect(!LiveTrials.isHostile(rows.joined()))
        }
    }

    @Test func numbersTakeFiveCharactersAtMost() {
        for exponent in -4...18 {
            for step in [1.0, 1.5, 9.94, 9.996, 9.99, 99.94, 99.96, 999.4, 999.6, 1_023] {
                let number = step * pow(10, Double(exponent))
                let text = ShortNumberText(number).description
                #expect(text.count <= 5, "\(number): \(text)")
            }
        }
        for shift in 0..<62 { #expect(ShortByteText((1 << shift) * 3 / 2).description.count <= 5) }
        #expect(ShortNumberText(12_345).description == "12.3k" && ShortNumberText(0.25).description == "0.25")
        #expect(ShortNumberText(7).description == "7" && ShortByteText(1_536).description == "1.5K")
        #expect(ShortByteText(64 << 20).description == "64M" && ShortByteText(512).description == "512B")
    }

    @Test func widthsOfCharacters() {
        #expect(DisplayWidth.of("abc") == 3 && DisplayWidth.of("長い") == 4 && DisplayWidth.of("e\u{301}") == 1)
        #expect(DisplayWidth.of("🦁") == 2 && DisplayWidth.of("한글") == 4 && DisplayWidth.of("é") == 1)
        #expect(DisplayWidth.fit("長い名前", columns: 5) == "長い…")
        #expect(DisplayWidth.fit("長い名前", columns: 6) == "長い… ")
        #expect(DisplayWidth.fit("ab", columns: 4, alignsRight: true) == "  ab")
        #expect(DisplayWidth.fit("abc", columns: 0) == "")
    }

    // MARK: Rates

    @Test func ratesAreOfTheTimeBetweenTwoPublications() throws {
        let row = try #require(
            rows([
                [process("c", hits: 100, misses: 10)], [process("c", hits: 400, misses: 110, seconds: 2)],
            ]).first
        )
        let rates = try #require(row.rates)
        #expect(rates.memoryHits == 150 && rates.misses == 50 && rates.hitRatio == 0.75)
        #expect(row.trend == [0.75])
    }

    @Test func aProcessThatPublishesNothingDoesNothing() throws {
        let still = process("c", hits: 100)
        let row = try #require(rows([[still], [still], [still], [still]]).first)
        #expect(row.rates?.memoryHits == 0 && row.trend == [nil])
        // Counts that a closed cache took along are no negative rates.
        let less = try #require(rows([[still], [process("c", hits: 10, seconds: 1)]]).first)
        #expect(less.rates?.memoryHits == 0)
        // The first look has no rates.
        #expect(rows([[still]]).first?.rates == nil)
    }

    @Test func statesOfProcesses() {
        #expect(process("c").state(at: Self.date + 29) == .running)
        #expect(process("c").state(at: Self.date + 31) == .silent)
        #expect(process("c", isLive: false).state(at: Self.date) == .ended)
    }

    @Test func aTrendDoesNotGrowWithoutBound() throws {
        let row = try #require(rows((0..<500).map { [process("c", hits: $0, seconds: Double($0))] }).first)
        #expect(row.trend.count == LiveHistory.trendCount)
    }

    // MARK: Screens

    @Test func aScreenOfEightyColumns() {
        let all = rows([
            [process("cities", hits: 0), process("pictures", pid: 8)],
            [
                process("cities", hits: 1_234, misses: 100, seconds: 1),
                process("pictures", pid: 8, misses: 3, seconds: 1, isLive: false),
            ],
        ])
        let lines = screen(all).lines(columns: 80, rows: 24).map(\.text)
        #expect(lines[0].hasPrefix("typed-cache top  2 caches  2 processes  by cache"))
        #expect(lines[2].hasPrefix("CACHE    PROCESS "))
        #expect(lines[3].hasPrefix("cities   7 atlas"))
        #expect(lines[3].contains("1.2k") && lines[3].contains("92.5") && lines[3].contains("12M/64M"))
        #expect(lines[4].contains("8 ended at"))
        #expect(lines[23].hasPrefix("q quit  s sort  r reverse  / filter  space pause  ? help"))
    }

    @Test func sparklines() {
        let looks = (0..<9).map {
            [process("c", hits: $0 * 100, misses: $0 < 5 ? 0 : ($0 - 4) * 100, seconds: Double($0))]
        }
        #expect(screen(rows(looks)).lines(columns: 200, rows: 10)[3].text.contains("████▅▅▅▅"))
        #expect(screen(rows(looks), isUnicode: false).lines(columns: 200, rows: 10)[3].text.contains("77774444"))
    }

    @Test func orderAndFilter() {
        let all = rows([
            [process("b", hits: 0), process("a", pid: 9), process("c", pid: 1)],
            [
                process("b", hits: 5, seconds: 1), process("a", pid: 9, seconds: 1),
                process("c", pid: 1, hits: 9, seconds: 1),
            ],
        ])
        func names(_ view: LiveView) -> String { view.chosen(all).map(\.process.cache).joined() }
        #expect(names(LiveView()) == "abc" && names(LiveView(isReversed: true)) == "cba")
        #expect(names(LiveView(order: .hits)) == "cba" && names(LiveView(order: .process)) == "cba")
        #expect(names(LiveView(filter: "B")) == "b" && names(LiveView(filter: "9")) == "a")
        #expect(names(LiveView(filter: "ATLAS")) == "abc" && names(LiveView(filter: "zzz")).isEmpty)
        let nothing = screen(all, LiveView(filter: "zzz")).lines(columns: 80, rows: 24).map(\.text)
        #expect(nothing.contains { $0.hasPrefix("Nothing matches the filter") })
    }

    @Test func keys() {
        var view = LiveView()
        func type(_ text: String) -> [LiveView.Request?] { LiveKey.keys(Array(text.utf8)).map { view.press($0) } }
        #expect(type("x") == [nil] && type("s") == [.draw] && view.order == .process)
        #expect(type("S") == [.draw] && view.order == .cache && type("S") == [.draw] && view.order == .disk)
        _ = type("r ")
        #expect(view.isReversed && view.isPaused)
        _ = type("/q\u{E9}🦁\u{7F}")
        #expect(view.filter == "qé" && view.mode == .filtering)
        #expect(type("\r") == [.draw] && view.mode == .rows && view.filter == "qé")
        #expect(type("\u{1B}") == [.draw] && view.filter.isEmpty)
        _ = type("\u{1B}[B\u{1B}[B\u{1B}OB\u{1B}[A")
        #expect(view.offset == 2)
        #expect(type("\u{1B}[15~\u{1B}[1;5C") == [] && type("?") == [.draw] && view.mode == .help)
        #expect(type("q") == [.draw] && view.mode == .rows && type("q") == [.quit])
        #expect(type("/\u{3}") == [.draw, .quit] && type("\u{1A}") == [.suspend])
    }

    @Test(arguments: seeds(0..<100)) func anyBytesAreKeysOrNone(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var view = LiveView()
        for _ in 0..<50 {
            let count = Int.random(in: 0...40, using: &random)
            for key in LiveKey.keys(random.bytes(count)) { _ = view.press(key) }
        }
        #expect(!LiveTrials.isHostile(view.filter) && view.filter.count <= 100)
    }

    @Test func drawingsHaveNoColorWhereNoneIsWanted() {
        let lines = screen(rows([[process("c")]])).lines(columns: 40, rows: 10)
        #expect(!LiveScreen.drawing(lines, hasColor: false).contains(/\u{1B}\[[0-9]+m/))
        let drawing = LiveScreen.drawing(lines, hasColor: true)
        #expect(drawing.contains("\u{1B}[7m") && drawing.components(separatedBy: "\r\n").count == 10)
        // Nothing is erased after a line that is full: that would take its last character.
        #expect(!drawing.hasSuffix("K") && !drawing.hasSuffix("J"))
    }
}

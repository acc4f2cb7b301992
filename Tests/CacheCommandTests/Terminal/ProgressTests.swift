import Testing

@testable import CacheCommand

struct ProgressTests {
    private let half = Progress(records: 12_345, bytes: 500, size: 1000, elapsed: .seconds(10))

    @Test(
        "The line says as much as fits",
        arguments: [
            (
                100,
                "[####################--------------------]   50%  12,345 records  1,234/s  0:10 left"
            ),
            (60, "[#######--------]   50%  12,345 records  1,234/s  0:10 left"),
            (50, " 50%  12,345 records  1,234/s  0:10 left"),
            (40, " 50%  12,345 records  1,234/s"),
            (22, " 50%  12,345 records"),
            (10, " 50%"),
            (3, " 5"),
            (0, ""),
        ]
    )
    func widths(columns: Int, text: String) {
        let shown = ProgressText(half, columns: columns).description
        #expect(shown == text)
    }

    @Test("It fits every terminal, and the bar never shrinks", arguments: [20, 45, 80, 200])
    func everyWidth(columns: Int) {
        var longest = 0
        for bytes in 0...1000 {
            let progress = Progress(records: bytes * 977, bytes: bytes, size: 1000, elapsed: .seconds(bytes))
            let text = ProgressText(progress, columns: columns).description
            #expect(text.count < columns)
            guard text.hasPrefix("["), columns > 80 else { continue }
            let filled = text.count { $0 == "#" }
            #expect(filled >= longest)
            longest = filled
        }
        #expect((longest == 40) == (columns > 80))
    }

    @Test("Without a size it counts")
    func unknownSize() {
        let progress = Progress(records: 7, bytes: 70, size: nil, elapsed: .seconds(2))
        #expect(ProgressText(progress, columns: 80).description == "7 records  3/s")
        #expect(ProgressText(Progress(), columns: 80).description == "0 records")
        #expect(ProgressText(Progress(size: 0), columns: 80).description == "0 records")
    }

    @Test("The remaining time is what the rest takes at the same rate")
    func remaining() {
        let cases: [(bytes: Int, seconds: Int, text: String)] = [
            (500, 2, "0:02"), (900, 100, "0:12"), (100, 77, "11:33"), (100, 770, "1:55:30"),
            (2, 400_000, "99:59:59"),
        ]
        for (bytes, seconds, expected) in cases {
            let progress = Progress(records: 1, bytes: bytes, size: 1000, elapsed: .seconds(seconds))
            let text = ProgressText(progress, columns: 200).description
            #expect(text.hasSuffix("  \(expected) left"), "\(text)")
        }
        #expect(Progress(records: 1, bytes: 0, size: 10, elapsed: .seconds(9)).remaining == nil)
    }

    @Test("It is redrawn ten times a second at most, and erased before anything else is shown")
    func redrawing() {
        let errors = MemoryErrors(columns: 40)
        var bar = ProgressBar(on: errors)
        bar.erase()
        for millisecond in 0..<1_000 {
            bar.update(Progress(records: millisecond, size: nil, elapsed: .milliseconds(millisecond)))
        }
        #expect(errors.text.count { $0 == "\r" } == 9)
        bar.erase()
        bar.erase()
        #expect(errors.text.hasSuffix("\u{1B}[K\r\u{1B}[K"))
        #expect(!errors.text.contains("\n"))
    }

    @Test("Where there is no terminal it is silent")
    func silence() {
        let errors = MemoryErrors(columns: nil)
        var bar = ProgressBar(on: errors)
        bar.update(half)
        bar.erase()
        var disabled = ProgressBar(on: MemoryErrors(columns: 80), isEnabled: false)
        disabled.update(half)
        #expect(errors.text.isEmpty)
    }
}

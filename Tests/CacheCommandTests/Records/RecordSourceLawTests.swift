import TestSupport
import Testing

@testable import CacheCommand

/// Laws of every format, with bytes that arrive in any pieces.
struct RecordSourceLawTests {
    @Test("What is written is read, from lines and from an array alike", arguments: 0..<30 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var random = RandomRecords(seed: seed)
        let records = random.records(20)
        let lines = records.map { JSONWriter.text(.object($0), isIndented: false) }
        let array = RecordValue.array(records.map(RecordValue.object))
        for ending in ["\n", "\r\n", "\n\n \t\n"] {
            let reading = Reading(lines.joined(separator: ending).utf8, format: .ndjson)
            #expect(reading.records == records, "seed \(seed)")
            #expect(reading.badRecords.isEmpty)
        }
        for isIndented in [false, true] {
            let reading = Reading(JSONWriter.text(array, isIndented: isIndented).utf8, format: .json)
            #expect(reading.records == records, "seed \(seed)")
            #expect(reading.badRecords.isEmpty && reading.error == nil)
        }
    }

    @Test(
        "Where the pieces of an input are cut changes nothing",
        arguments: RecordFormat.allCases,
        [7, 8, 9]
    )
    func pieces(format: RecordFormat, seed: UInt64) {
        let text = damaged(sample(format, seed: seed), seed: seed)
        let whole = Reading(text, format: format)
        for size in 1...50 {
            #expect(
                Reading(text, format: format, pieceSize: size) == whole,
                "seed \(seed), pieces of \(size)"
            )
        }
    }

    @Test("A byte order mark at the beginning is not a part of a record", arguments: RecordFormat.allCases)
    func byteOrderMark(format: RecordFormat) {
        let text = sample(format, seed: 3)
        let marked = Reading([0xEF, 0xBB, 0xBF] + text, format: format, pieceSize: 1)
        #expect(marked.outcomes == Reading(text, format: format).outcomes)
        #expect(!marked.records.isEmpty)
    }

    @Test(
        "Whatever the bytes are, reading ends, and every byte is accounted for",
        arguments: RecordFormat.allCases
    )
    func hostileBytes(format: RecordFormat) {
        let text = sample(format, seed: 11)
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<400 {
            var hostile = Array(text.prefix(Int.random(in: 0...text.count, using: &generator)))
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !hostile.isEmpty {
                let index = hostile.indices.randomElement(using: &generator) ?? 0
                hostile[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let reading = Reading(
                hostile,
                format: format,
                limits: RecordLimits(bytes: 300, depth: 4, values: 20)
            )
            #expect(reading.error != nil || reading.bytesConsumed == hostile.count)
        }
    }

    @Test("A record above the limit costs itself only, however long it is", arguments: RecordFormat.allCases)
    func tooLong(format: RecordFormat) {
        let long = String(repeating: "x", count: 3 << 20)
        let text =
            switch format {
            case .ndjson: "{\"a\":\"1\"}\n{\"a\":\"\(long)\"}\n{\"a\":\"2\"}\n"
            case .json: "[{\"a\":\"1\"},\n{\"a\":\"\(long)\"},\n{\"a\":\"2\"}]"
            case .csv: "a\n1\n\(long)\n2\n"
            }
        for pieceSize in [1000, Int.max] {
            let limits = RecordLimits(bytes: 1000)
            let reading = Reading(text.utf8, format: format, pieceSize: pieceSize, limits: limits)
            #expect(reading.records.map { $0["a"] } == [.string("1"), .string("2")])
            #expect(reading.badRecords.map(\.reason) == [.tooLong(limit: 1000)])
            #expect(reading.badRecords.map(\.line) == [format == .csv ? 3 : 2])
            #expect(reading.lines.last == (format == .csv ? 4 : 3))
        }
    }

    @Test("The format is told by the name, else by the first visible byte")
    func detection() {
        let expected: [(String, String, RecordFormat)] = [
            ("a.ndjson", "", .ndjson), ("a.JSONL", "", .ndjson), ("a.csv", "{", .csv),
            ("a.json", " \n[", .json), ("a.json", "{", .ndjson), ("a.txt", "a,b", .csv), ("a", "", .ndjson),
            ("dir.csv/a", "[", .json), (".csv", "{", .ndjson), ("a.tsv", "{", .csv),
        ]
        for (path, text, format) in expected {
            let found = RecordFormat.named(path)?.format ?? RecordFormat(firstByte: text.utf8.first { $0 > 0x20 })
            #expect(found == format, "\(path) with \(text)")
        }
        #expect(Reading(" \n [{\"a\":1}]".utf8, format: nil).records.count == 1)
        #expect(Reading("\n{\"a\":1}".utf8, format: nil).records.count == 1)
        #expect(Reading("a\n1".utf8, format: nil).records.count == 1)
        #expect(Reading("".utf8, format: nil) == Reading("".utf8, format: .ndjson))
    }

    private func sample(_ format: RecordFormat, seed: UInt64) -> [UInt8] {
        var random = RandomRecords(seed: seed)
        switch format {
        case .ndjson:
            let lines = random.records(12).map { JSONWriter.text(.object($0), isIndented: false) }
            return Array(lines.joined(separator: "\r\n").utf8)
        case .json:
            let records = random.records(12).map(RecordValue.object)
            return Array(JSONWriter.text(.array(records), isIndented: true).utf8)
        case .csv:
            var rows = [["first", "second \"2\"", "third\nname"]]
            for _ in 0..<12 { rows.append([random.text(), random.text(), random.text()]) }
            return Array(CSVText(rows, lineEnding: "\r\n").description.utf8)
        }
    }

    /// Some records of every text are bad, at the same places for any pieces.
    private func damaged(_ text: [UInt8], seed: UInt64) -> [UInt8] {
        var text = text
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<3 {
            text[Int.random(in: 40..<text.count, using: &generator)] = UInt8.random(
                in: 0...255,
                using: &generator
            )
        }
        return text
    }
}

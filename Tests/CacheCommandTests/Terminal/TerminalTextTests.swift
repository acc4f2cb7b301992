import Foundation
import KeyedArchive
import Testing

@testable import CacheCommand

struct TerminalTextTests {
    @Test("Nothing that could upset a terminal gets through, and no two texts look alike")
    func safeText() {
        var seen: Set<String> = []
        for value in UInt32(0)...0x1_0FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let shown = EscapedText(String(scalar)).description
            if value < 0x3000 || value >= 0xE0000 && value < 0xE0100 { seen.insert(shown) }
            guard shown.unicodeScalars.contains(where: isUpsetting) else { continue }
            Issue.record("U+\(String(value, radix: 16)) gets through")
        }
        #expect(seen.count > 0x3000)
        #expect(EscapedText("a\\n\n\u{1B}[0m\u{202E}é🦁").description == "a\\\\n\\n\\u{1b}[0m\\u{202e}é🦁")
        #expect(EscapedText("\\u{1b}").description != EscapedText("\u{1B}").description)
    }

    /// By its Unicode properties.
    private func isUpsetting(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        let kinds: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
        return scalar.properties.isBidiControl || kinds.contains(category)
    }

    @Test("What is cut is cut between characters, and shows")
    func cutText() {
        #expect(EscapedText("abc", limit: 3).description == "abc")
        #expect(EscapedText("abcd", limit: 3).description == "abc…")
        #expect(EscapedText("a\u{1B}", limit: 3).description == "a…")
        #expect(EscapedText(String(repeating: "\u{7F}", count: 1_000_000), limit: 20).description.count == 19)
    }

    @Test(
        "Bytes for people",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1.0 MiB"),
            (5_661_117, "5.4 MiB"), (1 << 30, "1.0 GiB"), (Int.max, "8.0 EiB"),
        ]
    )
    func bytes(count: Int, text: String) {
        #expect(ByteText(count).description == text)
    }

    @Test(
        "Counts for people",
        arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (34_006, "34,006"), (-1_234_567, "-1,234,567")]
    )
    func counts(count: Int, text: String) {
        #expect(CountText(count).description == text)
    }

    @Test("Evicted entries are counted with their noun", arguments: [(1, "other"), (0, "others"), (2, "others")])
    func evictions(count: Int, noun: String) {
        let summary = TrimSummary(expiredCount: 1, evictedCount: count)
        #expect(summary.prose == "1 expired entry removed, \(count) \(noun) evicted")
    }

    @Test("Decimals have as many digits as asked for")
    func decimals() {
        #expect(DecimalText(0.05, fractionDigits: 1).description == "0.1")
        #expect(DecimalText(2.999, fractionDigits: 2).description == "3.00")
        #expect(DecimalText(-1.05, fractionDigits: 2).description == "-1.05")
        #expect(DecimalText(12.06, fractionDigits: 2).description == "12.06")
    }

    @Test("A table's columns are as wide as their widest cell")
    func table() {
        var table = TextTable([("NAME", .left), ("SIZE", .right), ("KEY", .left)])
        table.append(["a", "1.0 KiB", "x"])
        table.append(["longer", "7 B", ""])
        #expect(
            table.description == """
                NAME       SIZE  KEY
                a       1.0 KiB  x
                longer      7 B

                """
        )
    }

    @Test("JSON keeps the order of fields, and escapes what a terminal could stumble over")
    func json() throws {
        let record = Record(fields: [
            RecordField(name: "z", value: .array([.int(1), .uint(.max), .double(1.5), .null, .bool(true)])),
            RecordField(name: "a\"\\", value: .string("\u{1B}\n\u{202E}\u{E0041}é")),
            RecordField(name: "d", value: .date(Date(timeIntervalSince1970: 0.5))),
            RecordField(name: "b", value: .data(Data([1, 2, 3]))),
            RecordField(name: "n", value: .array([.double(.nan), .double(.infinity), .double(-.infinity)])),
            RecordField(name: "e", value: .object(Record())),
        ])
        let compact = JSONWriter.text(.object(record), isIndented: false)
        #expect(
            compact == #"{"z":[1,18446744073709551615,1.5,null,true],"#
                + #""a\"\\":"\u001b\n\u202e\udb40\udc41é","d":"1970-01-01T00:00:00.500Z","b":"AQID","#
                + #""n":["NaN","Infinity","-Infinity"],"e":{}}"#
        )
        let indented = JSONWriter.text(
            .object(Record(fields: Array(record.fields.suffix(2)))),
            isIndented: true
        )
        #expect(
            indented == """
                {
                  "n": [
                    "NaN",
                    "Infinity",
                    "-Infinity"
                  ],
                  "e": {}
                }
                """
        )
        let parsed = try JSONSerialization.jsonObject(with: Data(compact.utf8)) as? [String: Any]
        #expect(parsed?["a\"\\"] as? String == "\u{1B}\n\u{202E}\u{E0041}é")
    }
}

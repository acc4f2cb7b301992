import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

struct WarmTests {
    private let backend = MemoryBackend()
    private let warm = ["warm", "-", "--cache", "c", "--key", "id"]

    private func texts(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "\($0)" } }

    @Test("Every record is saved under its key, and the numbers add up")
    func saves() {
        let run = ToolRun(warm, on: backend, input: lines(1...100))
        #expect(run.status == .success)
        #expect(backend.saved.map(\.key) == texts(1...100))
        #expect(backend.records["7"]?["name"] == .string("n7"))
        #expect(run.output.text.isEmpty)
        #expect(run.errors.text == "100 records read, 100 saved, 0 invalid, in 0.10 s (990/s)\n")
    }

    @Test("Keys are strings or whole numbers of 1 to 1,024 bytes")
    func keys() {
        let longest = String(repeating: "é", count: 512)
        let values = [
            "\"a\"", "-1", "18446744073709551615", "\"\(longest)\"", "\"\"", "\"\(longest)x\"", "1.5", "null",
            "true",
            "[1]", "-0",
        ]
        let input = values.map { "{\"id\":\($0)}\n" }.joined() + "{\"other\":1}\n"
        let run = ToolRun(warm, on: backend, input: input)
        #expect(backend.saved.map(\.key) == ["a", "-1", "18446744073709551615", longest])
        #expect(
            run.errors.lines.dropLast() == [
                #"typed-cache: line 5: the key field "id" is empty"#,
                #"typed-cache: line 6: the key field "id" holds 1025 bytes, a key has at most 1024"#,
                #"typed-cache: line 7: the key field "id" must hold a string or a whole number, not a number with a fraction or an exponent"#,
                #"typed-cache: line 8: the key field "id" must hold a string or a whole number, not null"#,
                #"typed-cache: line 9: the key field "id" must hold a string or a whole number, not a truth value"#,
                #"typed-cache: line 10: the key field "id" must hold a string or a whole number, not an array"#,
                #"typed-cache: line 11: the key field "id" must hold a string or a whole number, not a negative zero"#,
                #"typed-cache: line 12: the key field "id" is missing"#,
            ]
        )
    }

    @Test(
        "Columns without the key are refused at once, and named",
        arguments: [
            ("a,b\n1,2\n", #""a", "b""#), ("a,b\n", #""a", "b""#), ("\0\0\0", #""\u{0}\u{0}\u{0}""#),
            ("id;a\n", #""id;a"; if ';' separates its columns, use --delimiter ';'"#),
            ((1...12).map { "c\($0)" }.joined(separator: ","), (1...10).map { "\"c\($0)\", " }.joined() + "…"),
        ]
    )
    func missingKeyColumn(text: String, names: String) {
        for words in [[], ["--skip-invalid"], ["--dry-run"]] {
            let run = ToolRun(warm + words, on: backend, input: text)
            #expect(run.status == .failure && backend.saved.isEmpty)
            #expect(
                run.errors.text
                    == #"typed-cache: standard input: the header names no column "id", which is the key field; it names "#
                    + "\(names)\n"
            )
        }
        #expect(ToolRun(warm, on: backend, input: "a,id\n").status == .success)
    }

    @Test(
        "A source that is not text of UTF-8 from its first byte on is told as what it is, with the remedy",
        arguments: [[], ["--format", "csv"], ["--format", "json"], ["--format", "ndjson"]]
    )
    func otherEncodings(format: [String]) {
        let compressed = "is compressed by gzip; unpack it first: zcat FILE | typed-cache warm -"
        let wide = "is UTF-16; convert it first: iconv -f utf-16 -t utf-8 FILE | typed-cache warm -"
        for (bytes, told) in [
            ([0x1F, 0x8B, 8, 0], compressed), ([0xFF, 0xFE, 0x7B, 0], wide), ([0xFE, 0xFF, 0, 0x7B], wide),
        ] as [([UInt8], String)] {
            let run = ToolRun(warm + format, on: backend, bytes: bytes)
            #expect(run.status == .failure && run.errors.text == "typed-cache: standard input: \(told)\n")
        }
    }

    @Test("A type's name without a module is told, and taken")
    func typeNames() {
        for name in ["City", "atlas.City; rm", ".City", "atlas.", "atlas.4", "atlas.Box<Swift.Int"] {
            let run = ToolRun(warm + ["--type", name], on: backend, input: lines(1...1))
            #expect(run.status == .success)
            #expect(
                run.errors.text.hasPrefix("typed-cache: '\(name)' is not a Swift type with its module, "),
                "\(name)"
            )
        }
        for name in ["atlas.City", "atlas.Map.Place", "a_1.Ort", "atlas.Größe", "atlas.Box<Swift.Int>.Part"] {
            let run = ToolRun(warm + ["--type", name], on: backend, input: lines(1...1))
            #expect(run.errors.text.hasPrefix("1 record read, 1 saved"), "\(name)")
        }
    }

    @Test(
        "Times are told to the microsecond",
        arguments: [31_898_051, 999_999_499, 1_031_898_051, 7_200_000_001_000]
    )
    func times(nanoseconds: Int64) {
        let text = JSONWriter.text(.seconds(.nanoseconds(nanoseconds)), isIndented: false)
        #expect(text.split(separator: ".").last.map { $0.count <= 6 } ?? false, "\(text)")
        #expect(Double(text).map { abs($0 * 1e9 - Double(nanoseconds)) <= 501 } ?? false, "\(text)")
    }

    @Test(
        "Bad records fail the command unless they may be skipped; the others are saved",
        arguments: [false, true]
    )
    func skipping(skips: Bool) {
        let input = "{\"id\":1}\n{\"id\":\n{\"id\":3}\n"
        let run = ToolRun(warm + (skips ? ["--skip-invalid"] : []), on: backend, input: input)
        #expect(run.status == (skips ? .success : .failure))
        #expect(backend.saved.map(\.key) == ["1", "3"])
        #expect(
            run.errors.lines.first == "typed-cache: line 2: byte 7 of the record: the JSON ends too early"
        )
        #expect(run.errors.lines.last?.hasPrefix("3 records read, 2 saved, 1 invalid, in ") == true)
    }

    @Test("Of many bad records the first are told, the others are counted", arguments: [19, 20, 21, 500])
    func manyBadRecords(count: Int) {
        let run = ToolRun(
            warm + ["--format", "ndjson"],
            on: backend,
            input: String(repeating: "?\n", count: count - 1) + "{}",
            columns: 80
        )
        let told = run.errors.lines.filter { $0.contains("typed-cache: line ") }
        #expect(told.count == min(20, count))
        #expect(run.errors.text.contains("further bad records are counted only") == (count > 20))
        #expect(run.errors.lines.last?.contains("\(count) invalid") == true)
    }

    @Test("A limit bounds what is saved", arguments: [0, 1, 5, 10, 11])
    func limit(count: Int) {
        let run = ToolRun(
            warm + ["--format", "ndjson", "--limit", "\(count)"],
            on: backend,
            input: "?\n" + lines(1...10)
        )
        #expect(backend.saved.count == min(10, count))
        #expect(run.status == (count == 0 ? .success : .failure))
    }

    @Test("Resumed, keys that have an entry are left alone and counted apart; a limit is for what is saved")
    func resuming() {
        _ = ToolRun(warm, on: backend, input: lines(1...40))
        let run = ToolRun(warm + ["--resume", "--limit", "50"], on: backend, input: lines(1...100))
        #expect(run.status == .success)
        #expect(backend.saved.map(\.key) == texts(1...90))
        #expect(run.errors.text.hasPrefix("90 records read, 50 saved, 40 there already, 0 invalid, in "))
        let json = ToolRun(warm + ["--resume", "--json"], on: backend, input: lines(1...100))
        #expect(json.output.text.contains(#""read":100,"saved":10,"present":90,"invalid":0"#))
        // A dry run looks into no cache.
        let dry = ToolRun(warm + ["--resume", "--dry-run"], on: backend, input: lines(1...3))
        #expect(dry.errors.text.hasPrefix("3 records read, 3 valid, 0 invalid"))
    }

    @Test("Each key is printed after its save, escaped, on a line of its own")
    func printedKeys() {
        let output = MemoryOutput()
        backend.beforeSave = { key in
            #expect(!output.lines.contains(EscapedText(key).description))
        }
        let special = [#"{"id":"a\nb"}"#, #"{"id":"\u001b[0m"}"#, #"{"id":""}"#]
        let input = special.map { $0 + "\n" }.joined() + lines(1...300)
        let run = ToolRun(warm + ["--print-keys"], on: backend, input: input, output: output)
        let wanted: [String] = [#"a\nb"#, #"\u{1b}[0m"#] + texts(1...300)
        #expect(run.output.lines == wanted)
        // A reader of the keys sees them while the work goes on.
        #expect(output.flushCount >= 3)
    }

    @Test("A reader of the keys that has gone does not stop the saving", arguments: [1, 4])
    func closedKeys(threadCount: Int) {
        let backend = MemoryBackend(threadCount: threadCount)
        let output = MemoryOutput(room: 6)
        let words = warm + ["--print-keys"]
        let run = ToolRun(words, on: backend, input: lines(1...2_000), output: output)
        #expect(run.status == .success && backend.saved.count == 2_000 && output.lines == ["1", "2", "3"])
        #expect(run.errors.text.hasPrefix("2,000 records read, 2,000 saved, "))
        let bad = ToolRun(words, on: backend, input: lines(1...9) + "?\n", output: MemoryOutput(room: 6))
        #expect(bad.status == .failure)
    }

    @Test("Keys and a line of JSON do not go to one output")
    func keysAndJSON() {
        let run = ToolRun(warm + ["--print-keys", "--json"], on: backend, input: lines(1...1))
        #expect(run.status == .usage && run.output.text.isEmpty && backend.saved.isEmpty)
        #expect(run.errors.text.hasPrefix("typed-cache: --print-keys and --json exclude each other; "))
    }

    @Test("A tag that no entry can have is refused before a record is read")
    func longTags() {
        let longest = String(repeating: "é", count: 128)
        #expect(ToolRun(warm + ["--tag", longest], on: backend, input: lines(1...1)).status == .success)
        let opened = backend.openCount
        let list = ["list", "--cache", "c"]
        for words in [warm, list] {
            let run = ToolRun(words + ["--tag", longest + "x"], on: backend, input: lines(1...1))
            #expect(run.status == .usage && backend.openCount == opened)
            #expect(run.errors.text.hasPrefix("typed-cache: --tag: expected a tag of 1 to 256 bytes, not '"))
        }
    }

    @Test("A dry run checks everything and touches no cache")
    func dryRun() {
        let json = ToolRun(warm + ["--dry-run", "--json"], on: backend, input: lines(1...3) + "?\n").output.text
        #expect(json.hasPrefix(#"{"read":4,"saved":0,"valid":3,"present":0,"invalid":1,"#), "\(json)")
        let run = ToolRun(warm + ["--dry-run", "--print-keys"], on: backend, input: lines(1...3) + "?\n")
        #expect(backend.openCount == 0)
        #expect(run.status == .failure)
        #expect(run.output.lines == ["1", "2", "3"])
        #expect(run.errors.lines.last?.hasPrefix("4 records read, 3 valid, 1 invalid") == true)
    }

    @Test(
        "A signal stops it between two records: what is saved stays, the summary tells, the process ends by it"
    )
    func interruption() {
        let interruption = TestInterruption()
        backend.beforeSave = { if $0 == "5" { interruption.arrive(SIGINT) } }
        let run = ToolRun(warm, on: backend, input: lines(1...100), interruption: interruption)
        #expect(run.status == .signal(SIGINT))
        #expect(backend.saved.map(\.key) == ["1", "2", "3", "4", "5"])
        #expect(run.errors.text == "5 records read, 5 saved, 0 invalid, in 0.01 s (833/s), interrupted\n")
    }

    @Test("A record that the cache does not take is a bad one; any other failure ends the work")
    func failures() {
        backend.beforeSave = { key in
            if key == "2" { throw RejectedRecord(reason: "too large for this cache") }
            if key == "4" { throw MemoryBackend.Failure(description: "no space left\non device") }
        }
        let run = ToolRun(warm + ["--skip-invalid"], on: backend, input: lines(1...9))
        #expect(run.status == .failure)
        #expect(backend.saved.map(\.key) == ["1", "3"])
        #expect(
            run.errors.lines.dropLast() == [
                "typed-cache: line 2: too large for this cache", #"typed-cache: no space left\non device"#,
            ]
        )
        #expect(run.errors.lines.last?.hasPrefix("4 records read, 2 saved, 1 invalid") == true)
    }

    @Test("A source that breaks off fails the command after what it gave, even if bad records may be skipped")
    func brokenSource() {
        let run = ToolRun(warm + ["--skip-invalid"], on: backend, input: #"[{"id":1},{"id":2"#)
        #expect(run.status == .failure)
        #expect(backend.saved.map(\.key) == ["1"])
        #expect(
            run.errors.lines.first
                == "typed-cache: standard input: line 1: the JSON array ends before its ]; is the file complete?"
        )
        let missing = ToolRun(["warm", "no\nfile", "--cache", "c", "--key", "id"], on: backend)
        #expect(missing.status == .failure)
        #expect(
            missing.errors.text == "typed-cache: no\\nfile: cannot be opened: No such file or directory\n"
        )
    }

    @Test("The summary is prose for people, JSON for programs, and nothing for those who want none")
    func summaries() throws {
        let json = ToolRun(warm + ["--json"], on: backend, input: lines(1...3) + "?\n")
        #expect(json.errors.lines.count == 1)
        #expect(
            json.output.text
                == #"{"read":4,"saved":3,"present":0,"invalid":1,"failed":0,"evicted":0,"seconds":0.005,"#
                + #""recordsPerSecond":800.0,"interrupted":false}"# + "\n"
        )
        let quiet = ToolRun(warm + ["--quiet"], on: backend, input: lines(1...300), columns: 80)
        #expect(quiet.errors.text.isEmpty && quiet.output.text.isEmpty)
    }

    @Test("On a terminal progress shows and is gone in the end; elsewhere it never shows")
    func progress() {
        let shown = ToolRun(warm, on: backend, input: lines(1...300), columns: 60).errors.text
        #expect(shown.contains("\r[") && shown.contains("% ") && shown.contains("records  "))
        #expect(shown.contains("\r\u{1B}[K300 records read"))
        #expect(!ToolRun(warm, on: backend, input: lines(1...300)).errors.text.contains("\r"))
    }

    @Test("Columns of CSV are read as their declared types")
    func typedColumns() {
        let arguments = warm + ["--fields", "name:string,n:double,at:date?"]
        let run = ToolRun(
            arguments,
            on: backend,
            input: "id,n,at,name\n1,2.5,,x\n2,many,,y\n3,1,1970-01-01,z\n"
        )
        #expect(run.status == .failure)
        #expect(
            backend.records["1"]?.fields == [
                RecordField(name: "name", value: .string("x")), RecordField(name: "n", value: .double(2.5)),
            ]
        )
        #expect(backend.records["3"]?["at"] == .date(Date(timeIntervalSince1970: 0)))
        #expect(
            run.errors.lines.first
                == #"typed-cache: line 3: field "n": expected a number, found a string "many""#
        )
    }

    @Test("A record without a class is archived with its keys in their order, nested ones too")
    func order() throws {
        let names = ["zulu", "mike", "alpha", "kilo", "echo", "tango"]
        let nested = Record(fields: names.map { RecordField(name: "inner " + $0, value: .bool(true)) })
        var record = Record(fields: names.map { RecordField(name: "outer " + $0, value: .string($0)) })
        record.fields.append(RecordField(name: "nested", value: .array([.object(nested)])))
        let archive = Data(try ArchivedRecord.archive(.fields(record), as: nil))
        for prefix in ["outer ", "inner "] {
            let places = names.compactMap { archive.range(of: Data((prefix + $0).utf8))?.lowerBound }
            #expect(places.count == names.count && places == places.sorted())
        }
    }

    /// Keys come several times, records are bad, or not taken; chunks end within records.
    @Test("On several threads the same is saved, told and counted", arguments: seeds(0..<20))
    func threads(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let input = (0..<Int.random(in: 1...2_000, using: &random)).map { number in
            switch Int.random(in: 0..<20, using: &random) {
            case 0: "?\n"
            case 1: "{\"n\":\(number)}\n"
            default: "{\"id\":\(Int.random(in: 0..<500, using: &random)),\"n\":\(number)}\n"
            }
        }.joined()
        let options = [["--print-keys"], ["--resume", "--print-keys"], ["--limit", "700"], ["--json"]][seed % 4]
        func run(threadCount: Int) -> (ToolRun, MemoryBackend) {
            let backend = MemoryBackend(threadCount: threadCount)
            backend.beforeSave = { key in
                if key.hasSuffix("7") { throw RejectedRecord(reason: "seven") }
            }
            return (ToolRun(warm + ["--format", "ndjson"] + options, on: backend, input: input), backend)
        }
        let (expected, one) = run(threadCount: 1)
        let (actual, several) = run(threadCount: 4)
        #expect(actual.status == expected.status)
        #expect(several.records == one.records)
        #expect(several.saved.count == one.saved.count)
        #expect(actual.output.text == expected.output.text)
        #expect(actual.errors.text == expected.errors.text)
    }

    @Test("On several threads a failure ends the work, and what was saved beside it is counted")
    func failingThreads() {
        let backend = MemoryBackend(threadCount: 4)
        backend.beforeSave = { key in
            if key == "300" { throw MemoryBackend.Failure(description: "no space left") }
        }
        let run = ToolRun(warm + ["--print-keys"], on: backend, input: lines(1...2_000))
        #expect(run.status == .failure)
        #expect(run.errors.lines.first == "typed-cache: no space left")
        #expect(Set(run.output.lines) == Set(backend.saved.map(\.key)))
        #expect(backend.saved.count < 600)
        let count = backend.saved.count
        #expect(run.errors.lines.last?.hasPrefix("\(count + 1) records read, \(count) saved, 0 invalid") == true)
    }

    @Test("A save that failed is told, even if the source breaks off after it", arguments: [1, 4])
    func failureBeforeBrokenSource(threadCount: Int) {
        let backend = MemoryBackend(threadCount: threadCount)
        backend.beforeSave = { _ in throw MemoryBackend.Failure(description: "no space left") }
        let run = ToolRun(warm, on: backend, input: #"[{"id":1}] x"#)
        #expect(run.status == .failure)
        #expect(run.errors.lines.first == "typed-cache: no space left")
    }

    private func lines(_ numbers: ClosedRange<Int>) -> String {
        numbers.map { "{\"id\":\($0),\"name\":\"n\($0)\"}\n" }.joined()
    }
}

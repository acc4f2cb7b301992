import Testing

@testable import CacheCommand

struct CSVSourceTests {
    @Test("Any table that is written is read", arguments: 0..<40 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var random = RandomRecords(seed: seed)
        let names = (1...Int(seed % 5 + 1)).map { "column \($0)" }
        let rows = (0..<15).map { _ in names.map { _ in random.text() } }
        for ending in ["\n", "\r\n"] {
            let reading = Reading(CSVText([names] + rows, lineEnding: ending).description.utf8, format: .csv)
            #expect(reading.badRecords.isEmpty && reading.error == nil, "seed \(seed)")
            #expect(reading.records == rows.map { record(names, $0) }, "seed \(seed)")
        }
    }

    @Test(
        "The cases of RFC 4180",
        arguments: [
            ("a,b\r\n1,2\r\n", [["1", "2"]]),
            ("a,b\n1,2", [["1", "2"]]),
            ("a,b\n,\n", [["", ""]]),
            ("a,b\n\"1\",\" 2 \"\n", [["1", " 2 "]]),
            ("a,b\n\"x\"\"y\",\"\"\"\"\n", [["x\"y", "\""]]),
            ("a,b\n\"1\r\n2\",\"3,4\"\n5,6\n", [["1\r\n2", "3,4"], ["5", "6"]]),
            ("a,b\n\n1,2\n\r\n3,4\n\n", [["1", "2"], ["3", "4"]]),
            ("a,b\n 1 ,\t\n", [[" 1 ", "\t"]]),
            ("a,b\n\"\",\"\"", [["", ""]]),
        ]
    )
    func cases(text: String, rows: [[String]]) {
        let reading = Reading(text.utf8, format: .csv)
        #expect(reading.records == rows.map { record(["a", "b"], $0) })
        #expect(reading.badRecords.isEmpty && reading.error == nil)
    }

    @Test("Another delimiter than the comma", arguments: ["tab", ";", "|"])
    func delimiters(name: String) throws {
        let delimiter = try CSVDelimiter(parsing: name)
        let mark = name == "tab" ? "\t" : name
        let text = ["a", "b"].joined(separator: mark) + "\n" + ["1,5", "\"x\(mark)\ny\""].joined(separator: mark)
        let reading = Reading(text.utf8, format: nil, delimiter: delimiter)
        #expect(reading.records == [record(["a", "b"], ["1,5", "x\(mark)\ny"])])
        #expect(reading.error == nil && reading.badRecords.isEmpty)
    }

    @Test("A file that ends in .tsv has tabs, and a header in one piece tells the option")
    func delimiterByName() throws {
        let reading = Reading("a\tb\n1\t2".utf8, format: nil, location: .file("x.tsv"))
        #expect(reading.records == [record(["a", "b"], ["1", "2"])])
        for text in ["", "ab", "\"", "\n", "a", "é"] {
            #expect(throws: InvalidValue.self) { try CSVDelimiter(parsing: text) }
        }
        for (mark, name) in [("\t", "tab"), (";", "';'")] {
            let error = SourceError.missingKeyColumn(name: "id", columns: ["id\(mark)name"])
            let message = SourceErrorMessage(error: error, location: .standardInput).description
            #expect(message.hasSuffix("; if \(name) separates its columns, use --delimiter \(name)"), "\(message)")
        }
    }

    @Test("A record that breaks the rules is told with its line, and costs itself only")
    func badRecords() {
        let text = "a,b\n1\n1,2,3\n\"x\"y,2\nx\"y,2\nx\ry,2\n\"1\n\n2\",ok\n1,\n"
        let reading = Reading(text.utf8, format: .csv)
        #expect(
            reading.badRecords == [
                BadRecord(line: 2, reason: .fieldCount(found: 1, expected: 2)),
                BadRecord(line: 3, reason: .fieldCount(found: 3, expected: 2)),
                BadRecord(line: 4, reason: .csv(.textAfterQuote, column: 1)),
                BadRecord(line: 5, reason: .csv(.strayQuote, column: 1)),
                BadRecord(line: 6, reason: .csv(.strayCarriageReturn, column: 1)),
            ]
        )
        #expect(reading.lines == [7, 10])
        let unclosed = Reading("a,b\n1,2\n3,\"4\n5,6\n".utf8, format: .csv)
        #expect(unclosed.badRecords == [BadRecord(line: 3, reason: .csv(.unclosedQuote, column: 2))])
        let invalid = Reading(
            Array("a,b\n1,".utf8) + [0xFF] + Array("\n1,\"".utf8) + [0xC0, 0x22],
            format: .csv
        )
        #expect(invalid.badRecords.map(\.reason) == [.invalidUTF8, .invalidUTF8])
        let many = Reading("a\n,,,,,,".utf8, format: .csv, limits: RecordLimits(values: 3))
        #expect(many.badRecords.map(\.reason) == [.csv(.tooManyFields, column: 4)])
    }

    @Test("Without a usable header there are no records")
    func headers() {
        #expect(Reading("".utf8, format: .csv).error == .missingHeader)
        #expect(Reading("\n\r\n".utf8, format: .csv).error == .missingHeader)
        #expect(Reading("a,b,a\n".utf8, format: .csv).error == .duplicateColumn(line: 1, name: "a"))
        #expect(Reading("\na,,b\n".utf8, format: .csv).error == .unnamedColumn(line: 2, column: 2))
        #expect(
            Reading("a,\"b\n1,2".utf8, format: .csv).error
                == .badHeader(line: 1, .csv(.unclosedQuote, column: 2))
        )
        #expect(Reading("a,b".utf8, format: .csv).outcomes.isEmpty)
    }

    private func record(_ names: [String], _ values: [String]) -> Record {
        Record(fields: zip(names, values).map { RecordField(name: $0, value: .string($1)) })
    }
}

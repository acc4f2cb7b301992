import Testing

@testable import CacheCommand

struct JSONArraySourceTests {
    @Test("An array may be empty, and may have space everywhere")
    func emptyAndSpaced() {
        for text in ["[]", " [ ] ", "\n[\n]\n", "[\t]\r\n"] {
            #expect(Reading(text.utf8, format: .json) == emptyReading(of: text))
        }
        let reading = Reading("\n [ {\"a\" : [1, {\"b\":\"],[\"}]} ,\n\n {} ] \n".utf8, format: .json)
        #expect(reading.records.count == 2 && reading.badRecords.isEmpty && reading.error == nil)
        #expect(reading.lines == [2, 4])
    }

    @Test("A broken element is told with its line, and costs itself only")
    func brokenElements() {
        let text = "[{\"a\":1},\n{\"a\":tru},\n7,\n{\"a\":1],\n,\n{\"a\" 1},\n{\"a\":2},]"
        let reading = Reading(text.utf8, format: .json)
        #expect(
            reading.badRecords == [
                BadRecord(line: 2, reason: .json(JSONError(code: .badLiteral, offset: 5))),
                BadRecord(line: 3, reason: .notAnObject(found: .integer)),
                BadRecord(line: 4, reason: .json(JSONError(code: .expectedCommaOrEnd, offset: 6))),
                BadRecord(line: 5, reason: .missingElement),
                BadRecord(line: 6, reason: .json(JSONError(code: .expectedColon, offset: 5))),
                BadRecord(line: 7, reason: .missingElement),
            ]
        )
        #expect(reading.records.map { $0["a"] } == [.int(1), .int(2)])
        #expect(reading.error == nil)
    }

    @Test("What is not a whole array, or more than one, is an error after the records it has")
    func brokenArrays() {
        let cases: [(String, SourceError, Int)] = [
            ("", .notAnArray(line: 1), 0),
            ("\n{\"a\":1}", .notAnArray(line: 2), 0),
            ("[", .unclosedArray(line: 1), 0),
            ("[{\"a\":1},\n", .unclosedArray(line: 2), 1),
            ("[{\"a\":1}\n,{\"a\":", .unclosedArray(line: 2), 1),
            ("[{\"a\":1}]\n[", .textAfterArray(line: 2), 1),
            ("[]]", .textAfterArray(line: 1), 0),
        ]
        for (text, error, count) in cases {
            let reading = Reading(text.utf8, format: .json)
            #expect(reading.error == error, "\(text)")
            #expect(reading.records.count == count, "\(text)")
        }
    }

    private func emptyReading(of text: String) -> Reading {
        var reading = Reading("".utf8, format: .ndjson)
        reading.bytesConsumed = text.utf8.count
        return reading
    }
}

import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

/// A record makes one archive, whether it is archived from its text or from named values.
struct ArchivedRecordTests {
    private static let types = [nil, ArchivedClass(name: "atlas.City")]

    @Test("The archive of a text is that of its values, byte for byte", arguments: seeds(0..<60))
    func bothWays(seed: Int) throws {
        var random = RandomRecords(seed: UInt64(seed))
        // One parser for all: it expects the names of the record before.
        var parser = JSONParser()
        for record in random.records(20) {
            for isIndented in [false, true] {
                try check(JSONWriter.text(.object(record), isIndented: isIndented), &parser, expecting: record)
            }
        }
    }

    @Test(
        "Names and strings that archives treat in their own way",
        arguments: [
            #"{}"#, #"{"$null":"$null","$":"$","$class":{"$null":"$null"},"a":["$null","$nul","$nullx"]}"#,
            #"{"":"","a":[],"b":{},"c":[[],{},[null]]}"#, #"{"\u0061":"\u0000","$0":1,"$$":{"$0":2}}"#,
            #"{"NS.objects":[1],"$objects":1,"same":"same","again":"same"}"#,
            #"{"a":18446744073709551615,"b":[18446744073709551615,-1,-0,1e2,true,false]}"#,
            #"{"\ud83e\udd81":"\ud83e\udd81","é":"\u00e9","k":"\u212a","a\"b\\c":"a\"b\\c\/\b\f\n\r\t"}"#,
        ]
    )
    func particularNames(text: String) throws {
        var parser = JSONParser()
        for _ in 0..<2 { try check(text, &parser, expecting: nil) }
    }

    @Test("Records of many members, in themselves and in their values")
    func manyMembers() throws {
        let fields = (0..<1_500).map { RecordField(name: "f\($0)", value: .int(Int64($0))) }
        let record = Record(fields: fields)
        let nested: Record = ["o": .object(record), "a": .array(fields.map(\.value))]
        var parser = JSONParser()
        for record in [record, nested] {
            try check(JSONWriter.text(.object(record), isIndented: false), &parser, expecting: record)
        }
    }

    @Test("Values nest as deep as a record may")
    func deep() throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let count = RecordLimits().depth - 1
            let text =
                #"{"a":"# + String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
                + "}"
            var parser = JSONParser()
            try check(text, &parser, expecting: nil)
        }
    }

    @Test(
        "The key of a text is that of its values",
        arguments: [
            #"{"é":1,"k":2}"#, #"{"e\u0301":"1","k":2}"#, #"{"k":"x","é":null}"#, #"{"\u212a":1.5}"#, #"{"K":[]}"#,
            #"{"k":""}"#, #"{"k":18446744073709551615,"é":-7}"#, #"{"a":{"k":1},"k":{"k":2}}"#, #"{"\u006b":true}"#,
            "{}",
        ]
    )
    func keys(text: String) throws {
        let record = try parsed(text)
        for field in ["k", "K", "é", "e\u{301}", "\u{212A}"] {
            let key = RecordKey(field: field)
            let (one, other) = (
                Result { () throws(BadRecordReason) in try key.key(of: .parsed(record)) },
                Result { () throws(BadRecordReason) in try key.key(of: .fields(record.record)) }
            )
            #expect(one == other, "\(field) of \(text)")
        }
    }

    private func parsed(_ text: String) throws -> ParsedRecord {
        var parser = JSONParser()
        return ParsedRecord(values: try parser.plainValues(Array(text.utf8).span))
    }

    /// - Parameter record: the record that the text is of, if that is known otherwise than from the parser.
    private func check(_ text: String, _ parser: inout JSONParser, expecting record: Record?) throws {
        let parsed = ParsedRecord(values: try parser.plainValues(Array(text.utf8).span))
        if let record { #expect(parsed.record == record, "\(text)") }
        for type in Self.types {
            let direct = try KeyedArchiver.archive(parsed.values, as: type)
            #expect(try ArchivedRecord.archive(.parsed(parsed), as: type) == direct.bytes)
            #expect(
                try ArchivedRecord.archive(.fields(record ?? parsed.record), as: type) == direct.bytes,
                "\(text)"
            )
        }
    }
}

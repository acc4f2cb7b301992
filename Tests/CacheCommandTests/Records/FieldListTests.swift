import Foundation
import Testing

@testable import CacheCommand

struct FieldListTests {
    @Test("Fields are declared by name and type")
    func declarations() throws {
        let list = try FieldList(parsing: "a:double,b c:string?,d:e:uuid")
        #expect(
            list.fields == [
                FieldDeclaration(name: "a", type: .double, isOptional: false),
                FieldDeclaration(name: "b c", type: .string, isOptional: true),
                FieldDeclaration(name: "d:e", type: .uuid, isOptional: false),
            ]
        )
        for (text, part) in [
            ("", ""), ("a", "a"), ("a:", "a:"), (":int", ":int"), ("a:int,", ""), ("a:Int", "a:Int"),
            ("a:int??", "a:int??"), ("a:int,a:bool", "a:bool"), ("a:integer", "a:integer"),
        ] {
            #expect { try FieldList(parsing: text) } throws: { ($0 as? InvalidValue)?.part == part }
        }
    }

    @Test(
        "What JSON writes is read as the declared type, or not at all",
        arguments: [
            (.string, .string("x"), .string("x")), (.string, .string(""), .string("")),
            (.string, .int(1), nil),
            (.int, .int(-5), .int(-5)), (.int, .double(3), .int(3)), (.int, .double(3.5), nil),
            (.int, .double(0x1p60), nil), (.int, .uint(.max), nil), (.int, .string("1"), nil),
            (.int, .bool(true), nil), (.double, .double(2.5), .double(2.5)), (.double, .int(7), .double(7)),
            (.double, .int(1 << 53), .double(0x1p53)), (.double, .int(1 << 53 + 1), nil),
            (.double, .uint(.max), nil), (.double, .uint(1 << 63), .double(0x1p63)), (.double, .string("1"), nil),
            (.bool, .bool(false), .bool(false)), (.bool, .int(1), nil), (.bool, .string("true"), nil),
            (.date, .int(86_400), .date(Date(timeIntervalSince1970: 86_400))),
            (.date, .double(0.5), .date(Date(timeIntervalSince1970: 0.5))),
            (.date, .string("1970-01-02T01:00:00+01:00"), .date(Date(timeIntervalSince1970: 86_400))),
            (.date, .string("86400"), nil), (.date, .bool(true), nil),
            (.data, .string("AQID"), .data(Data([1, 2, 3]))), (.data, .string(""), .data(Data())),
            (.data, .string("AQI"), nil), (.data, .string("A!ID"), nil), (.data, .array([.int(1)]), nil),
            (.url, .string("a:/b"), URL(string: "a:/b").map(RecordValue.url)), (.url, .string("/b"), nil),
            (.url, .string("http://a b"), nil), (.url, .string(""), nil),
            (
                .uuid, .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
                UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f").map(RecordValue.uuid)
            ),
            (.uuid, .string("E621E1F8"), nil), (.string, .null, nil), (.string, .array([]), nil),
            (.string, .object(Record()), nil),
        ] as [(FieldType, RecordValue, RecordValue?)]
    )
    func typedValues(type: FieldType, value: RecordValue, expected: RecordValue?) {
        #expect(FieldCoercion(type: type, isText: false).value(of: value) == expected)
    }

    @Test(
        "What CSV writes is read as the declared type, or not at all",
        arguments: [
            (.string, "", .string("")), (.string, " 1 ", .string(" 1 ")), (.int, "-12", .int(-12)),
            (.int, "+12", .int(12)), (.int, "1.0", nil), (.int, " 1", nil), (.int, "", nil),
            (.int, "0x1", nil),
            (.int, "9223372036854775808", nil), (.double, "1", .double(1)),
            (.double, "-1.5e3", .double(-1500)), (.double, "9007199254740992", .double(0x1p53)),
            (.double, "9007199254740993", nil), (.double, "18446744073709551615", nil),
            (.double, "-100000000000000000001", nil),
            (.double, "nan", nil), (.double, "inf", nil), (.double, "0x1p3", nil), (.double, "1e999", nil),
            (.double, "", nil), (.double, "１", nil), (.bool, "TRUE", .bool(true)), (.bool, "0", .bool(false)),
            (.bool, "yes", nil), (.date, "1.5", .date(Date(timeIntervalSince1970: 1.5))),
            (.date, "1970-01-01", .date(Date(timeIntervalSince1970: 0))), (.date, "today", nil),
            (.data, "AQID", .data(Data([1, 2, 3]))), (.uuid, "1", nil),
        ] as [(FieldType, String, RecordValue?)]
    )
    func textValues(type: FieldType, text: String, expected: RecordValue?) {
        #expect(FieldCoercion(type: type, isText: true).value(of: .string(text)) == expected)
    }

    @Test("Declared fields are selected in their order; what may be missing is left out")
    func selection() throws {
        let list = try FieldList(parsing: "b:int,a:string?,c:double?")
        let record = Record(fields: [
            RecordField(name: "a", value: .null), RecordField(name: "x", value: .int(0)),
            RecordField(name: "b", value: .int(2)),
        ])
        let selected = try list.select(from: record, isText: false)
        #expect(selected.fields == [RecordField(name: "b", value: .int(2))])
        let columns = Record(fields: [
            RecordField(name: "a", value: .string("")), RecordField(name: "c", value: .string("1")),
            RecordField(name: "b", value: .string("2")),
        ])
        #expect(
            try list.select(from: columns, isText: true).fields == [
                RecordField(name: "b", value: .int(2)), RecordField(name: "c", value: .double(1)),
            ]
        )
    }

    @Test("A value that does not fit is told by field, type and kind, and a string at most in part")
    func unfitValues() throws {
        let list = try FieldList(parsing: "a:int")
        let long = "\u{1B}[31m" + String(repeating: "x", count: 100)
        let cases: [(RecordValue?, String)] = [
            (nil, #"line 3: field "a" is missing; declare it with a ? if it may be"#),
            (.null, #"line 3: field "a": expected a whole number of at most 64 bits, found null"#),
            (
                .bool(true),
                #"line 3: field "a": expected a whole number of at most 64 bits, found a truth value"#
            ),
            (
                .string(long),
                #"line 3: field "a": expected a whole number of at most 64 bits, found a string "\u{1b}[31m"#
                    + String(repeating: "x", count: 30) + #"…""#
            ),
        ]
        for (value, sentence) in cases {
            let record = Record(fields: value.map { [RecordField(name: "a", value: $0)] } ?? [])
            #expect {
                try list.select(from: record, isText: false)
            } throws: { error in
                guard let reason = error as? BadRecordReason else { return false }
                return BadRecordMessage(BadRecord(line: 3, reason: reason)).description == sentence
            }
        }
    }
}

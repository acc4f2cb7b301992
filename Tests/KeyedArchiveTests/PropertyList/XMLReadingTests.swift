import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

/// The XML property lists that are accepted, and the faults of others, with their places.
@Suite struct XMLReadingTests {
    private static let head = #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"#

    /// The one value of a list, by the name of its kind.
    private func value(_ xml: String) throws -> String {
        try XMLPropertyList.reading(Array(xml.utf8)) { list, _ throws(ArchiveError) in
            Result { try describe(list, list.top) }
        }.get()
    }

    private func describe(_ list: BinaryPropertyList, _ reference: Int) throws -> String {
        switch try list.object(reference) {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .float(let value): "float \(value)"
        case .double(let value): "\(value)"
        case .date(let value): "date \(value)"
        case .data(let range): "data \(Array(list.bytes.data(in: range)))"
        case .ascii, .utf16: try "\(list.string(reference) ?? "?")".debugDescription
        case .uid(let uid): "uid \(uid)"
        case .array(let run), .set(let run):
            try "[" + (0..<run.count).map { try describe(list, list.element(run, $0)) }.joined(separator: ", ")
                + "]"
        case .dictionary(let fields):
            try "{"
                + (0..<fields.count).map {
                    try describe(list, list.key(fields, $0)) + ": " + describe(list, list.value(fields, $0))
                }.joined(separator: ", ") + "}"
        }
    }

    private func error(_ xml: [UInt8]) -> ArchiveError? {
        do throws(ArchiveError) {
            try XMLPropertyList.reading(xml) { _ throws(ArchiveError) in }
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        // Numbers
        ("<integer>0</integer>", "0"), ("<integer>-0</integer>", "0"), ("<integer>+7</integer>", "7"),
        ("<integer> 12\n</integer>", "12"), ("<integer>0xfF</integer>", "255"), ("<integer>-0X10</integer>", "-16"),
        ("<integer>-9223372036854775808</integer>", "-9223372036854775808"),
        ("<integer>18446744073709551615</integer>", "18446744073709551615"),
        ("<integer>0000000000000000000000000000000000000000001</integer>", "1"),
        ("<real>1</real>", "1.0"), ("<real>.5</real>", "0.5"), ("<real>5.</real>", "5.0"),
        ("<real>-1e-3</real>", "-0.001"), ("<real>0x1.8p1</real>", "3.0"), ("<real>-0.0</real>", "-0.0"),
        ("<real>NaN</real>", "nan"), ("<real>+Infinity</real>", "inf"), ("<real>-inf</real>", "-inf"),
        // Text
        ("<string/>", #""""#), ("<string></string>", #""""#), ("<string> a </string>", #"" a ""#),
        ("<string>&lt;&gt;&amp;&quot;&apos;</string>", #""<>&\"\'""#),
        ("<string>&#65;&#x1F3D9;</string>", #""A🏙""#),
        ("<string><![CDATA[<&amp;>]]]]><![CDATA[>]]></string>", #""<&amp;>]]>""#),
        ("<string>a<!-- <b> -->b<?c d?>c</string>", #""abc""#), ("<string>a\r\nb</string>", #""a\r\nb""#),
        ("<string>&#8;\u{1}</string>", #""\u{08}\u{01}""#), ("<string a = 'b>' c=\"d\" >e</string >", #""e""#),
        // Others
        ("<true/>", "true"), ("<false></false>", "false"), ("<true> </true>", "true"),
        ("<date>2001-01-01T00:00:00Z</date>", "date 0.0"),
        ("<date>1970-01-01T00:00:00Z</date>", "date -978307200.0"),
        ("<date>2000-02-29T23:59:59Z</date>", "date -26438401.0"),
        ("<date>0001-01-01T00:00:00Z</date>", "date -63113904000.0"),
        ("<date>9999-12-31T23:59:59Z</date>", "date 252423993599.0"),
        ("<data/>", "data []"), ("<data> AP8Q\n\t/w = = </data>", "data [0, 255, 16, 255]"),
        ("<data>AP8=</data>", "data [0, 255]"),
        // Containers
        ("<array/>", "[]"), ("<dict/>", "{}"),
        ("<array><true/> <array></array><string>a</string></array>", #"[true, [], "a"]"#),
        ("<dict><key>b</key><true/><key>a</key><dict/></dict>", #"{"b": true, "a": {}}"#),
        (
            "<dict><key>a</key><integer>1</integer><key>b</key><true/><key>a</key><integer>2</integer></dict>",
            #"{"b": true, "a": 2}"#
        ),
        ("<dict><key/><true/></dict>", #"{"": true}"#),
        // UIDs
        ("<dict><key>CF$UID</key><integer>4294967295</integer></dict>", "uid 4294967295"),
        ("<dict><key>CF$UID</key><integer>1</integer><key>a</key><true/></dict>", #"{"CF$UID": 1, "a": true}"#),
        ("<dict><key>a</key><true/><key>CF$UID</key><integer>1</integer></dict>", #"{"a": true, "CF$UID": 1}"#),
        ("<dict><key>CF$UID</key><string>1</string></dict>", #"{"CF$UID": "1"}"#),
        ("<dict><key>CF$UID</key><integer>4294967296</integer></dict>", #"{"CF$UID": 4294967296}"#),
        ("<dict><key>CF$UID</key><integer>-1</integer></dict>", #"{"CF$UID": -1}"#),
        ("<array><string>CF$UID</string><integer>1</integer></array>", #"["CF$UID", 1]"#),
    ])
    func valuesAreRead(_ xml: String, _ expected: String) throws {
        #expect(try value(Self.head + xml + "</plist>") == expected)
        // The element around the value is optional, as is all in front of it; white space may be anywhere there.
        #expect(try value(" \n\t" + xml + " \n<!-- end -->\n") == expected)
        #expect(
            try value("\u{FEFF}<!DOCTYPE plist PUBLIC \"a>[\" 'b'>\n<!-- - --><plist>\(xml)\n</plist>") == expected
        )
    }

    @Test(arguments: [
        ("<integer></integer>", "corrupted"), ("<integer/>", "corrupted"), ("<integer>1 2</integer>", "corrupted"),
        ("<integer>--1</integer>", "corrupted"), ("<integer>1.5</integer>", "corrupted"),
        ("<integer>f</integer>", "corrupted"), ("<integer>0x</integer>", "corrupted"),
        ("<integer>18446744073709551616</integer>", "corrupted"),
        ("<integer>-9223372036854775809</integer>", "corrupted"),
        ("<integer>-0x8000000000000001</integer>", "corrupted"),
        ("<integer>99999999999999999999999999999999999999999999999999</integer>", "corrupted"),
        ("<real>1,5</real>", "corrupted"), ("<real></real>", "corrupted"), ("<real>1_0</real>", "corrupted"),
        ("<string>&unknown;</string>", "corrupted"), ("<string>& amp;</string>", "corrupted"),
        ("<string>&#xD800;</string>", "corrupted"), ("<string>&#x110000;</string>", "corrupted"),
        ("<string>&#;</string>", "corrupted"), ("<string>&#-5;</string>", "corrupted"),
        ("<string>&#+65;</string>", "corrupted"), ("<string>&#0;</string>", "corrupted"),
        ("<string>a<b/></string>", "corrupted"), ("<string>a</data>", "corrupted"),
        ("<true>x</true>", "corrupted"), ("<date>2001-02-29T00:00:00Z</date>", "corrupted"),
        ("<date>1900-02-29T00:00:00Z</date>", "corrupted"),
        ("<date>2001-01-01T24:00:00Z</date>", "corrupted"),
        ("<date>2001-01-01</date>", "corrupted"), ("<date>2001-01-01T00:00:00z</date>", "corrupted"),
        ("<data>A</data>", "corrupted"), ("<data>AA</data>", "corrupted"), ("<data>AA=A</data>", "corrupted"),
        ("<data>A===</data>", "corrupted"), ("<data>AAAA=</data>", "corrupted"), ("<data>A*==</data>", "corrupted"),
        ("<array>x</array>", "corrupted"), ("<array><key>a</key></array>", "corrupted"),
        ("<dict><true/></dict>", "corrupted"), ("<dict><key>a</key></dict>", "corrupted"),
        ("<dict><key>a</key><key>b</key><true/></dict>", "corrupted"), ("<dict><array/></dict>", "corrupted"),
        ("<array></dict>", "corrupted"), ("<array><plist></plist></array>", "corrupted"),
        ("<dict><key>CF$UID</key><integer>1</integer><integer>2</integer></dict>", "corrupted"),
        ("<true/><true/>", "corrupted"), ("</array>", "corrupted"), ("<strings/>", "corrupted"),
        ("<true", "corrupted"), ("<true /x>", "corrupted"),
        ("<stringa='b'>x</string>", "corrupted"), ("<True/>", "corrupted"),
        ("", "corrupted"), ("&amp;", "corrupted"),
    ])
    func rulesAreKept(_ xml: String, _ code: String) throws {
        let found = try #require(error(Array((Self.head + xml + "</plist>").utf8)))
        #expect(found.code.description == code, "\(found)")
        #expect(found.offset ?? -1 >= Self.head.utf8.count)
    }

    @Test func documentsThatAreSomethingElse() throws {
        func code(_ text: String) -> ArchiveError.Code? { error(Array(text.utf8))?.code }
        for text in [
            "", " ", "x", "{ a = b; }", "(a)", "<", "<html><body/></html>", "<abcdef>", "\u{FEFF}", "\u{89}PNG\0",
        ] {
            #expect(code(text) == .unknownFormat, "\(text)")
        }
        for text in ["<?xml", "<!--", "<plist>", "<plist/>", "<plist></plist>", "<dict>"] {
            #expect(code(text) == .corrupted, "\(text)")
        }
        // Declarations of its own: the smallest part of the attack that multiplies entities.
        let entities =
            "<!DOCTYPE plist [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><plist><string>&b;</string></plist>"
        #expect(code(entities) == .corrupted)
        #expect(error(Array(entities.utf8))?.offset == 17)
        #expect(code("<plist><!DOCTYPE plist><true/></plist>") == .corrupted)
        for name in ["UTF-7", "foobar", ""] {
            #expect(code("<?xml version='1.0' encoding='\(name)'?><true/>") == .corrupted, "\(name)")
        }
        for name in ["UTF-8", "utf-8", "US-ASCII", "ISO-8859-1", "UTF-16"] {
            #expect(code("<?xml version='1.0' encoding = \"\(name)\" standalone='yes' ?><true/>") == nil, "\(name)")
        }
    }

    @Test func encodingsAreToldByTheirMark() throws {
        let xml = "<?xml version='1.0' encoding='UTF-16'?><string>Lavāsān 🏙</string>"
        for isBigEndian in [true, false] {
            let bytes = xml.utf16Bytes(isBigEndian: isBigEndian)
            let text = try XMLPropertyList.reading(bytes) { list, _ throws(ArchiveError) in
                try list.string(list.top)
            }
            #expect(text == "Lavāsān 🏙")
            #expect(error(Array(bytes.dropFirst(2))) == nil)
            #expect(error(Array(bytes.dropLast()))?.code == .corrupted)
            #expect(error(xml.utf32Bytes(isBigEndian: isBigEndian)) == nil)
        }
        // A place in another encoding is that in UTF-8.
        let wrong = "<array><string>ā🏙</string><wrong/></array>"
        let place = wrong.utf8.count - "<wrong/></array>".utf8.count
        #expect(error(wrong.utf16Bytes(isBigEndian: true))?.offset == place)
        #expect(error([0xFE, 0xFF, 0x00, 0x3C, 0xD8, 0x00])?.code == .corrupted)
        #expect(error(Array("<string>".utf8) + [0xE4] + Array("</string>".utf8))?.code == .corrupted)
    }

    @Test func depthIsLimitedAndTakesNoStack() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)).utf8)
        }
        #expect(error(nested(512)) == nil)
        #expect(error(nested(513))?.code == .limitExceeded)
        #expect(error(nested(1_000_000))?.code == .limitExceeded)
    }

    @Test func longDocumentsTakeTimeInProportion() throws {
        let clock = ContinuousClock()
        let count = isLongRun ? 100_000 : 20_000
        let documents = [
            "<string>" + String(repeating: "&amp;", count: count) + "</string>",
            "<string>" + String(repeating: "<![CDATA[a]]>", count: count) + "</string>",
            "<string>" + String(repeating: "<!---->", count: count) + "</string>",
            "<string>" + String(repeating: "&", count: count),
            "<string>" + String(repeating: "<!--", count: count),
            "<string " + String(repeating: "a=''", count: count),
            "<string a='" + String(repeating: ">", count: count),
            String(repeating: "<!-- -->", count: count),
            "<integer>" + String(repeating: "0", count: count) + "1</integer>",
            "<real>" + String(repeating: "1", count: count) + "</real>",
            "<array>" + String(repeating: "<true/>", count: count) + "</array>",
            "<dict>" + String(repeating: "<key>a</key><true/>", count: count / 4) + "</dict>",
        ]
        for document in documents {
            let bytes = Array(document.utf8)
            // A pass takes a few seconds at most even here; one for each byte would take hours.
            #expect(clock.measure { _ = error(bytes) } < .seconds(60 * slowness), "\(document.prefix(20))")
        }
    }
}

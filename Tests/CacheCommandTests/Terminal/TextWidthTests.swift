import Foundation
import Testing

@testable import CacheCommand

/// Columns of terminals.
struct TextWidthTests {
    @Test(
        "A text takes the columns that a terminal gives it",
        arguments: [
            ("", 0), ("user/7", 6), ("東京", 4), ("ﾄｳｷｮｳ", 5), ("Ａ", 2), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
            ("e\u{301}te\u{301}", 3), ("été", 3), ("\u{200B}", 0), ("😀", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2),
            ("❤", 1),
            ("👍🏽", 2), ("שלום", 4), ("شُكْرًا", 4), ("กำ", 2), ("ü", 1), ("…", 1),
        ]
    ) func columns(text: String, columns: Int) {
        #expect(TextWidth(text).columns == columns, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
    }

    @Test("Columns begin below their headings, whatever stands before them")
    func table() {
        var table = TextTable([("APP", .left), ("SIZE", .right), ("CACHE", .left)])
        let names = ["atlas", "東京", "e\u{301}", "👩‍👩‍👧‍👦", "אטלס"]
        for name in names { table.append([name, "7 B", "x"]) }
        let lines = table.description.split(separator: "\n").map { String($0) }
        #expect(lines[0] == "APP    SIZE  CACHE")
        for (line, name) in zip(lines.dropFirst(), names) {
            #expect(TextWidth(line).columns == 14, "\(line)")
            #expect(line.hasPrefix(name == "אטלס" ? "\u{2068}אטלס\u{2069}" : name))
            #expect(line.hasSuffix("7 B  x"))
        }
    }
}

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
            ("👍🏽", 2), ("שלום", 4), ("شُكْرًا", 5), ("กำ", 2), ("ü", 1), ("…", 1),
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

    #if canImport(Glibc)
        /// The C library has a table of its own, of another version of Unicode.
        @Test("The columns of single characters are those of the C library")
        func library() throws {
            guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) else {
                print("skipped: no locale with UTF-8")
                return
            }
            let former = uselocale(locale)
            defer {
                uselocale(former)
                freelocale(locale)
            }
            var count = 0
            var others: [UInt32] = []
            for value in UInt32(0x20)..<0x30000 {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let category = scalar.properties.generalCategory
                if [.unassigned, .privateUse, .format, .control].contains(category) { continue }
                count += 1
                let width = wcwidth(wchar_t(bitPattern: value))
                if width >= 0, Int(width) != TextWidth.columns(of: scalar) { others.append(value) }
            }
            #expect(count > 100_000)
            #expect(others.count < 120, "\(others.count): \(others.prefix(200).map { String($0, radix: 16) })")
        }
    #endif
}

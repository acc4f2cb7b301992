import Foundation
import TestSupport
import Testing

@testable import CacheCommand

/// Columns of terminals.
struct TextWidthTests {
    private static let texts = [
        ("", 0), ("user/7", 6), ("東京", 4), ("ﾄｳｷｮｳ", 5), ("Ａ", 2), ("한국", 4), ("\u{1112}\u{1161}\u{11AB}", 2),
        ("e\u{301}te\u{301}", 3), ("été", 3), ("\u{200B}", 0), ("😀", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2),
        ("❤", 1),
        ("👍🏽", 2), ("שלום", 4), ("شُكْرًا", 4), ("กำ", 2), ("ü", 1), ("…", 1),
    ]

    @Test("A text takes the columns that a terminal gives it", arguments: texts)
    func columns(text: String, columns: Int) {
        #expect(TextWidth(text).columns == columns, "\(text.unicodeScalars.map { String($0.value, radix: 16) })")
    }

    /// The newest table of the Python package wcwidth, which terminals are tested with.
    @Test(
        "Each assigned character, and each text, takes the columns that wcwidth gives it",
        .enabled(if: isLongRun && Wcwidth.isThere, "Scripts/test --all installs wcwidth")
    )
    func oracle() throws {
        let widths = try Wcwidth.run(
            "import wcwidth\nprint(*(max(0, wcwidth.wcwidth(chr(n))) for n in range(0x110000)), sep='')"
        )
        let expected = Array(widths.utf8.prefix(0x110000))
        try #require(expected.count == 0x110000)
        var others: [String] = []
        for scalar in (UInt32(0)..<0x110000).compactMap(Unicode.Scalar.init) where scalar.properties.age != nil {
            // Vowels of South Asia have a column here, as terminals show them, and none there. Half of a flag has one of
            // the flag's two.
            if scalar.properties.generalCategory == .spacingMark { continue }
            if (0x1F1E6...0x1F1FF).contains(scalar.value) { continue }
            let columns = TextWidth.columns(of: scalar)
            let known = Int(expected[Int(scalar.value)] - UInt8(ascii: "0"))
            if columns != known { others.append("U+\(String(scalar.value, radix: 16)): \(columns), not \(known)") }
        }
        #expect(others.isEmpty, "\(others.count) differ: \(others.prefix(20))")
        for (text, columns) in Self.texts {
            let numbers = text.unicodeScalars.map { String($0.value) }.joined(separator: ", ")
            let known = try Wcwidth.run("import wcwidth\nprint(wcwidth.wcswidth(''.join(map(chr, [\(numbers)]))))")
            #expect(known == "\(columns)\n", "\(numbers)")
        }
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

/// The Python package wcwidth.
private enum Wcwidth {
    static let isThere = (try? run("import wcwidth")) != nil

    static func run(_ script: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        let pipe = Pipe.make()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "python3 failed")
        return String(decoding: output, as: UTF8.self)
    }
}

import Foundation
import TestSupport
import Testing

@testable import CacheCommand

struct InstantTextTests {
    @Test("Every instant between the years 0 and 9999 comes back, to the millisecond", arguments: [1, 2])
    func roundTrip(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let milliseconds = Int.random(in: -62_167_219_200_000..<253_402_300_799_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let text = InstantText.text(date)
            let back = InstantText.date(from: text)
            #expect(
                (back?.timeIntervalSince1970).map { ($0 * 1000).rounded() } == Double(milliseconds),
                "\(text)"
            )
        }
    }

    @Test("An exact text gives the very same date again, or there is none", arguments: [5, 6])
    func exactText(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            // Any double of the years 2001 to 2128, half of a year after 2001 aside.
            let seconds =
                Double.random(in: 2e7...4e9, using: &generator) * (Bool.random(using: &generator) ? 1 : -1)
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let text = try #require(InstantText.exactText(date))
            #expect(InstantText.date(from: text) == date, "\(text)")
        }
        for seconds in [1e300, -1e300, .infinity, -.infinity, 2.5e11 + 3e9, -6.4e10, 1e-12, 0.1 + 1e-15] {
            #expect(InstantText.exactText(Date(timeIntervalSinceReferenceDate: seconds)) == nil, "\(seconds)")
        }
        let forms = [
            (0, "2001-01-01T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"), (-0.25, "2000-12-31T23:59:59.75Z"),
        ]
        for (seconds, text) in forms {
            #expect(InstantText.exactText(Date(timeIntervalSinceReferenceDate: seconds)) == text)
        }
    }

    @Test("Foundation's calendar agrees", arguments: [3, 4])
    func agreesWithFoundation(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            // From 1583 on, when both use the Gregorian calendar.
            let seconds = Int.random(in: -12_212_553_600..<253_402_300_800, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(InstantText.text(date) == date.formatted(.iso8601))
        }
    }

    @Test(
        "The forms of a date",
        arguments: [
            ("1970-01-01", 0), ("1970-01-01T00:00Z", 0), ("1970-01-01 00:00:01Z", 1),
            ("2000-02-29", 951_782_400),
            ("1970-01-01T01:00:00+01:00", 0), ("1970-01-01T00:00:00.25Z", 0.25),
            ("1970-01-01T00:00:00-0130", 5400),
            ("0000-01-01", -62_167_219_200), ("", nil), ("1970-1-1", nil), ("1970-01-32", nil),
            ("1970-13-01", nil),
            ("1970-00-01", nil), ("1970-01-00", nil), ("2001-02-29", nil), ("1900-02-29", nil),
            ("1970-01-01T00:00:00", nil), ("1970-01-01T24:00Z", nil), ("1970-01-01T00:60Z", nil),
            ("1970-01-01T00:00:60Z", nil), ("1970-01-01T00:00:00.Z", nil), ("1970-01-01T00:00:00Zx", nil),
            ("1970-01-01T", nil), ("+970-01-01", nil), ("１970-01-01", nil),
        ] as [(String, Double?)]
    )
    func forms(text: String, seconds: Double?) {
        #expect(InstantText.date(from: text)?.timeIntervalSince1970 == seconds)
    }
}

import Foundation
import PropertyLists

/// Dates as ISO 8601 text, in the proleptic Gregorian calendar.
///
/// `2024-05-01` is midnight UTC; a time of day needs its zone, `Z` or an offset, since a guess could be wrong:
/// `2024-05-01T12:30Z`, `2024-05-01T12:30:00.250+02:00`.
enum InstantText {
    /// The instant that `text` names, or `nil` if it names none.
    static func date(from text: String) -> Date? {
        var rest = Array(text.utf8)[...]
        guard let midnight = day(&rest)?.secondsSince2001 else { return nil }
        // From 2001 on, as dates count, so that nothing is rounded twice.
        if rest.isEmpty { return Date(timeIntervalSinceReferenceDate: Double(midnight)) }
        guard take("T", &rest) || take(" ", &rest) else { return nil }
        guard let hour = number(2, &rest), take(":", &rest), let minute = number(2, &rest) else { return nil }
        var second = 0.0
        if take(":", &rest) {
            guard let whole = number(2, &rest), let part = fraction(&rest) else { return nil }
            second = Double(whole) + part
        }
        guard hour < 24, minute < 60, second < 60, let offset = offset(&rest), rest.isEmpty else {
            return nil
        }
        let minutes = hour * 60 + minute - offset
        return Date(timeIntervalSinceReferenceDate: Double(midnight + minutes * 60) + second)
    }

    /// `date` in UTC with as many digits as it takes to read the same date again; `nil` if nine are too few, or its
    /// year is not one of 0000 to 9999.
    static func exactText(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds >= -63_145_526_400, seconds < 252_423_993_599 else { return nil }
        var whole = seconds.rounded(.down)
        var nanoseconds = ((seconds - whole) * 1e9).rounded()
        if nanoseconds == 1e9 { (whole, nanoseconds) = (whole + 1, 0) }
        let start = text(Date(timeIntervalSinceReferenceDate: whole))
        if nanoseconds == 0 { return whole == seconds ? start : nil }
        // Nine digits, without the zeros at the end.
        var digits = String(1_000_000_000 + Int(nanoseconds)).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        let made = start.dropLast() + "." + digits + "Z"
        return self.date(from: String(made)) == date ? String(made) : nil
    }

    /// `date` in UTC, to the millisecond if it has any: `2024-05-01T10:30:00Z`.
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        // The years 0000 to 9999; others have no ISO 8601 text that everyone reads.
        guard seconds >= -62_167_219_200, seconds < 253_402_300_799 else { return "\(seconds)" }
        let milliseconds = Int((seconds * 1000).rounded())
        let inSecond = (milliseconds % 1000 + 1000) % 1000
        let since1970 = (milliseconds - inSecond) / 1000
        return CivilDate(secondsSince2001: since1970 - secondsTo2001).text(milliseconds: inSecond)
    }

    /// From 1970 on.
    private static let secondsTo2001 = 978_307_200

    private static func day(_ rest: inout ArraySlice<UInt8>) -> CivilDate? {
        guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest), take("-", &rest),
            let day = number(2, &rest)
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    /// The zone's offset in minutes.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
        if take("Z", &rest) { return 0 }
        let isEast = take("+", &rest)
        guard isEast || take("-", &rest), let hours = number(2, &rest) else { return nil }
        _ = take(":", &rest)
        guard let minutes = number(2, &rest), hours < 24, minutes < 60 else { return nil }
        return (isEast ? 1 : -1) * (hours * 60 + minutes)
    }

    /// A fraction of a second, 0 if there is none, `nil` if its point has no digits.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Double? {
        guard take(".", &rest) else { return 0 }
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest = rest.dropFirst(digits.count)
        return Double("0." + String(decoding: digits, as: UTF8.self))
    }

    private static func number(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= count else { return nil }
        var value = 0
        for byte in rest.prefix(count) {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(count)
        return value
    }

    private static func take(_ mark: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest = rest.dropFirst()
        return true
    }
}

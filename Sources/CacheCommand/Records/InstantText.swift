import Foundation

/// Dates as ISO 8601 text, in the proleptic Gregorian calendar.
///
/// `2024-05-01` is midnight UTC; a time of day needs its zone, `Z` or an offset, since a guess could be wrong:
/// `2024-05-01T12:30Z`, `2024-05-01T12:30:00.250+02:00`.
enum InstantText {
    /// The instant that `text` names, or `nil` if it names none.
    static func date(from text: String) -> Date? {
        var rest = Array(text.utf8)[...]
        guard let days = days(&rest) else { return nil }
        if rest.isEmpty { return date(days: days, minutes: 0, seconds: 0) }
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
        return date(days: days, minutes: hour * 60 + minute - offset, seconds: second)
    }

    /// From 2001 on, as dates count, so that nothing is rounded twice.
    private static func date(days: Int, minutes: Int, seconds: Double) -> Date {
        Date(timeIntervalSinceReferenceDate: Double((days - daysTo2001) * 86_400 + minutes * 60) + seconds)
    }

    private static let daysTo2001 = 11_323

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
        let digits = padded(Int(nanoseconds), 9)
        let fraction = digits[...(digits.lastIndex { $0 != "0" } ?? digits.startIndex)]
        let made = start.dropLast() + "." + fraction + "Z"
        return self.date(from: String(made)) == date ? String(made) : nil
    }

    /// `date` in UTC, to the millisecond if it has any: `2024-05-01T10:30:00Z`.
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        // The years 0000 to 9999; others have no ISO 8601 text that everyone reads.
        guard seconds >= -62_167_219_200, seconds < 253_402_300_799 else { return "\(seconds)" }
        let milliseconds = Int((seconds * 1000).rounded())
        let (days, inDay) = floorDivision(milliseconds, 86_400_000)
        let (year, month, day) = civil(days)
        let time = [inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1000 % 60].map { padded($0, 2) }
        let part = inDay % 1000 == 0 ? "" : "." + padded(inDay % 1000, 3)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + time.joined(separator: ":") + part + "Z"
    }

    private static func days(_ rest: inout ArraySlice<UInt8>) -> Int? {
        guard let year = number(4, &rest), take("-", &rest), let month = number(2, &rest), take("-", &rest),
            let day = number(2, &rest), (1...12).contains(month), day >= 1
        else { return nil }
        let days = dayNumber(year, month, day)
        // The day before the next month's first is the last one of this.
        let next = month == 12 ? dayNumber(year + 1, 1, 1) : dayNumber(year, month + 1, 1)
        return days < next ? days : nil
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

    /// Days since 1 January 1970. Years are counted from March, so that the leap day is the last of its year.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let (century, yearInEra) = floorDivision(month > 2 ? year : year - 1, 400)
        let dayInYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayInEra = yearInEra * 365 + yearInEra / 4 - yearInEra / 100 + dayInYear
        return century * 146_097 + dayInEra - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayInEra) = floorDivision(days + 719_468, 146_097)
        let yearInEra = (dayInEra - dayInEra / 1_460 + dayInEra / 36_524 - dayInEra / 146_096) / 365
        let dayInYear = dayInEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100)
        let shifted = (5 * dayInYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let day = dayInYear - (153 * shifted + 2) / 5 + 1
        return (era * 400 + yearInEra + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivision(_ value: Int, _ divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

import Foundation

/// A second of the proleptic Gregorian calendar in UTC, as ISO 8601, XML Schema and Foundation's property lists use it.
///
/// All counts of seconds are since 2001-01-01T00:00:00Z, as dates count.
package struct CivilDate: Equatable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int
    /// Since midnight.
    package let second: Int

    private static let secondsPerDay = 86_400
    /// The days of 400 years, after which the calendar repeats itself.
    private static let daysPerEra = 146_097
    private static let daysBefore2001 = days(before: 1, of: 1, year: 2_001)

    /// - Returns: `nil` for a month, day or time that does not exist.
    package init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard (1...12).contains(month), (1...Self.length(of: month, year: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        self.second = hour * 3_600 + minute * 60 + second
    }

    // MARK: Seconds

    package init(secondsSince2001 seconds: Int) {
        let days: Int
        (days, second) = Self.floorDivision(seconds, Self.secondsPerDay)
        let (era, dayInEra) = Self.floorDivision(days + Self.daysBefore2001, Self.daysPerEra)
        let yearInEra = (dayInEra - dayInEra / 1_460 + dayInEra / 36_524 - dayInEra / 146_096) / 365
        let dayInYear = dayInEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100)
        let shifted = (5 * dayInYear + 2) / 153
        month = shifted < 10 ? shifted + 3 : shifted - 9
        day = dayInYear - (153 * shifted + 2) / 5 + 1
        year = era * 400 + yearInEra + (month <= 2 ? 1 : 0)
    }

    /// The second that a date is in; `nil` for seconds beyond a year of nine digits.
    package init?(flooring seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 3e16 else { return nil }
        self.init(secondsSince2001: Int(seconds.rounded(.down)))
    }

    package var secondsSince2001: Int {
        (Self.days(before: day, of: month, year: year) - Self.daysBefore2001) * Self.secondsPerDay + second
    }

    /// Whether the year is one of 1 to 9999, which every reader knows.
    package var hasYearOfFourDigits: Bool { (1...9_999).contains(year) }

    // MARK: Text

    /// `2001-01-01T00:00:00Z`, or with milliseconds `2001-01-01T00:00:00.250Z`.
    ///
    /// Four digits for the years 0 to 9999.
    package func text(milliseconds: Int = 0) -> String {
        var output = ByteOutput(capacity: 64)
        append(to: &output, separator: UInt8(ascii: "T"))
        if milliseconds != 0 {
            output.append(UInt8(ascii: "."))
            output.append(decimal: UInt64(milliseconds), width: 3)
        }
        output.append(UInt8(ascii: "Z"))
        return String(decoding: output.data(), as: UTF8.self)
    }

    /// Appends `YYYY-MM-DD`, a separator, and `HH:MM:SS`.
    func append(to output: inout ByteOutput, separator: UInt8) {
        func append(_ number: Int, _ width: Int) { output.append(decimal: UInt64(number.magnitude), width: width) }
        if year < 0 { output.append(0x2D) }
        append(year, 4)
        output.append(0x2D)
        append(month, 2)
        output.append(0x2D)
        append(day, 2)
        output.append(separator)
        append(second / 3_600, 2)
        output.append(0x3A)
        append(second / 60 % 60, 2)
        output.append(0x3A)
        append(second % 60, 2)
    }

    // MARK: Calendar

    /// Days from 1 March of year 0. Years are counted from March, so that the leap day is the last of its year.
    private static func days(before day: Int, of month: Int, year: Int) -> Int {
        let (era, yearInEra) = floorDivision(month > 2 ? year : year - 1, 400)
        let dayInYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * daysPerEra + yearInEra * 365 + yearInEra / 4 - yearInEra / 100 + dayInYear
    }

    /// The number of days in a month.
    private static func length(of month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        default: 31
        }
    }

    private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

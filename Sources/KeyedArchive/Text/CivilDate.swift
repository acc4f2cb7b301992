/// A second of the Gregorian calendar in UTC.
///
/// The calendar is taken as it is now for all times, as ISO 8601, XML Schema and Foundation's property lists do. All
/// counts of seconds are since 2001-01-01T00:00:00Z, as dates count.
package struct CivilDate: Equatable, Sendable {
    package let year: Int
    package let month: Int
    package let day: Int
    /// Since midnight.
    package let second: Int

    private static let secondsPerDay = 86_400
    private static let daysBefore2001 = days(before: 1, of: 1, year: 2_001)

    /// The date of its parts; `nil` for a day or time that no calendar has.
    ///
    /// - Parameter second: since midnight.
    package init?(year: Int, month: Int, day: Int, second: Int = 0) {
        guard (1...12).contains(month), (1...Self.length(of: month, year: year)).contains(day),
            (0..<Self.secondsPerDay).contains(second)
        else { return nil }
        (self.year, self.month, self.day, self.second) = (year, month, day, second)
    }

    // MARK: Seconds

    /// The date of a number of seconds.
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

    /// The date of a number of seconds, less the fraction; `nil` outside the years 1 to 9999, which have a text that
    /// every reader knows.
    package init?(flooring seconds: Double) {
        guard let whole = Int(exactly: seconds.rounded(.down)), abs(whole) < 1 << 40 else { return nil }
        self.init(secondsSince2001: whole)
        if !(1...9_999).contains(year) { return nil }
    }

    package var secondsSince2001: Int {
        (Self.days(before: day, of: month, year: year) - Self.daysBefore2001) * Self.secondsPerDay + second
    }

    // MARK: Text

    /// `2001-01-01T00:00:00Z`, with the milliseconds if there are any: `2001-01-01T00:00:00.250Z`.
    ///
    /// Four digits for the years 0 to 9999.
    package func text(milliseconds: Int = 0) -> String {
        let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
        let time = [second / 3_600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time)\(milliseconds == 0 ? "" : ".\(Self.padded(milliseconds, 3))")Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // MARK: Calendar

    /// The days of 400 years, after which the calendar repeats itself.
    private static let daysPerEra = 146_097

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

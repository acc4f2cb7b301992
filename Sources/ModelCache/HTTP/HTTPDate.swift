import Foundation

/// Dates as headers have them (RFC 9110, section 5.6.7), in any of the three forms:
///
///     Thu, 18 Aug 2050 02:01:18 GMT
///     Thursday, 18-Aug-50 02:01:18 GMT
///     Thu Aug 18 02:01:18 2050
///
/// Letters in either case are read, and nothing else that differs: any other text is not a date, and an `Expires` with it
/// counts as past (RFC 9111, section 4.2).
enum HTTPDate {
    /// - Parameter now: the time by which a year of two digits is read: none is more than 50 years ahead.
    static func parse(_ text: String, now: Date) -> Date? {
        guard (24...33).contains(text.utf8.count) else { return nil }
        var scanner = Scanner(rest: text[...].utf8)
        guard let date = scanner.date(now: now), scanner.rest.isEmpty else { return nil }
        return date
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private struct Scanner {
        var rest: Substring.UTF8View

        mutating func date(now: Date) -> Date? {
            let name = letters()
            if weekdays.contains(name) {
                guard skip(", "), let day = number(2), skip("-"), let month = month(), skip("-"),
                    let year = number(2), skip(" "), let time = time(), skip(" gmt")
                else { return nil }
                return HTTPDate.date(of: year, near: now, month: month, day: day, time: time)
            }
            guard name.utf8.count == 3, weekdays.contains(where: { $0.hasPrefix(name) }) else { return nil }
            if skip(", ") {
                guard let day = number(2), skip(" "), let month = month(), skip(" "), let year = number(4),
                    skip(" "), let time = time(), skip(" gmt")
                else { return nil }
                return HTTPDate.date(year: year, month: month, day: day, time: time)
            }
            guard skip(" "), let month = month(), skip(" "), let day = skip(" ") ? number(1) : number(2),
                skip(" "), let time = time(), skip(" "), let year = number(4)
            else { return nil }
            return HTTPDate.date(year: year, month: month, day: day, time: time)
        }

        /// Letters in lower case.
        private mutating func letters() -> String {
            let letters = rest.prefix { (0x61...0x7A).contains($0 | 0x20) }
            rest = rest.dropFirst(letters.count)
            return Substring(letters).lowercased()
        }

        private mutating func skip(_ text: StaticString) -> Bool {
            guard Substring(rest.prefix(text.utf8CodeUnitCount)).isCaseInsensitively(text) else { return false }
            rest = rest.dropFirst(text.utf8CodeUnitCount)
            return true
        }

        private mutating func number(_ count: Int) -> Int? {
            let digits = Substring(rest.prefix(count))
            guard digits.utf8.count == count, let number = digits.deltaSeconds else { return nil }
            rest = rest.dropFirst(count)
            return number
        }

        private mutating func month() -> Int? {
            months.firstIndex(of: letters()).map { $0 + 1 }
        }

        /// Seconds since midnight. A minute may have 61 seconds.
        private mutating func time() -> Int? {
            guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2),
                hour < 24, minute < 60, second < 61
            else { return nil }
            return hour * 3_600 + minute * 60 + second
        }
    }

    /// A date whose year has two digits.
    private static func date(of year: Int, near now: Date, month: Int, day: Int, time: Int) -> Date? {
        let present = civilYear(of: now)
        var whole = present - present % 100 + year
        if whole > present + 50 { whole -= 100 }
        if whole <= present - 50 { whole += 100 }
        return date(year: whole, month: month, day: day, time: time)
    }

    private static func civilYear(of date: Date) -> Int {
        let seconds = date.timeIntervalSince1970
        // Years of 365.2425 days: at most a day from the truth, which is enough for a century.
        guard abs(seconds) < 1e11 else { return 1970 }
        return 1970 + Int((seconds / 31_556_952).rounded(.down))
    }

    private static func date(year: Int, month: Int, day: Int, time: Int) -> Date? {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year > 0, (1...lengths[month - 1]).contains(day) else { return nil }
        let years = year - 1
        let days =
            years * 365 + years / 4 - years / 100 + years / 400 + lengths[..<(month - 1)].reduce(0, +) + day - 1
        // 719,162 days lie between the first of January of the years 1 and 1970.
        return Date(timeIntervalSince1970: Double((days - 719_162) * 86_400 + time))
    }
}

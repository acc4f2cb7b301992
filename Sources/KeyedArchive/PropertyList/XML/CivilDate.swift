/// A date and time of the Gregorian calendar in UTC, as XML property lists write it: `2001-01-01T00:00:00Z`.
///
/// The calendar is taken as it is now for all times, as XML Schema and Foundation's property lists do.
struct CivilDate: Equatable {
    private(set) var year: Int
    private(set) var month: Int
    private(set) var day: Int
    /// Since midnight.
    private(set) var second: Int

    private static let secondsPerDay = 86_400
    private static let daysBefore2001 = start(of: 2_001)

    // MARK: Text

    /// Reads exactly the form with four digits for the year; `nil` for anything else, and for days and times
    /// that no calendar has.
    init?(_ text: ArraySlice<UInt8>) {
        let shape = Array("0000-00-00T00:00:00Z".utf8)
        guard text.count == shape.count else { return nil }
        var numbers = [0]
        for (byte, expected) in zip(text, shape) {
            if expected == UInt8(ascii: "0") {
                guard (0x30...0x39).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - 0x30)
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        (year, month, day) = (numbers[0], numbers[1], numbers[2])
        second = numbers[3] * 3_600 + numbers[4] * 60 + numbers[5]
        guard year >= 1, (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
            numbers[3] < 24, numbers[4] < 60, numbers[5] < 60
        else { return nil }
    }

    var text: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = [padded(year, 4), padded(month, 2), padded(day, 2)].joined(separator: "-")
        let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time)Z"
    }

    // MARK: Seconds

    /// Since 2001-01-01T00:00:00Z.
    var seconds: Int {
        var days = Self.start(of: year)
        for earlier in 1..<month { days += Self.days(in: earlier, of: year) }
        return (days + day - 1 - Self.daysBefore2001) * Self.secondsPerDay + second
    }

    /// The date of a number of seconds since 2001, less the fraction; `nil` outside the years 1 to 9999.
    init?(seconds: Double) {
        guard let whole = Int(exactly: seconds.rounded(.down)), abs(whole) < 1 << 40 else { return nil }
        var days = whole / Self.secondsPerDay
        second = whole % Self.secondsPerDay
        if second < 0 {
            second += Self.secondsPerDay
            days -= 1
        }
        days += Self.daysBefore2001
        guard days >= 0 else { return nil }
        // 146,097 days are 400 years; years are not alike, so that this may be one too early or too late.
        year = days * 400 / 146_097 + 1
        while Self.start(of: year + 1) <= days { year += 1 }
        while Self.start(of: year) > days { year -= 1 }
        if year > 9_999 { return nil }
        month = 1
        var rest = days - Self.start(of: year)
        while rest >= Self.days(in: month, of: year) {
            rest -= Self.days(in: month, of: year)
            month += 1
        }
        day = rest + 1
    }

    /// Days from 1 January of year 1 to that of a year.
    private static func start(of year: Int) -> Int {
        let before = year - 1
        return before * 365 + before / 4 - before / 100 + before / 400
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        default: 31
        }
    }
}

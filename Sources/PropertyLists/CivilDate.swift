/// A date and time of the proleptic Gregorian calendar in UTC, in seconds since the beginning of 2001.
struct CivilDate {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int

    /// - Returns: `nil` for a month, day or time that does not exist.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...12).contains(month), day >= 1, day <= lengths[month - 1], (0...23).contains(hour),
            (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// - Returns: `nil` for seconds beyond a year of nine digits.
    init?(seconds: Double) {
        guard seconds.isFinite, abs(seconds) < 3e16 else { return nil }
        let whole = Int(seconds.rounded(.down))
        let inDay = ((whole % 86_400) + 86_400) % 86_400
        // Days since 0000-03-01: years of 400, with the leap day last.
        let days = (whole - inDay) / 86_400 + 730_791
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let inEra = days - era * 146_097
        let yearOfEra = (inEra - inEra / 1_460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * inYear + 2) / 153
        day = inYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = inDay / 3_600
        minute = inDay / 60 % 60
        second = inDay % 60
    }

    var seconds: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let inYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let inEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + inYear
        let days = era * 146_097 + inEra - 730_791
        return days * 86_400 + hour * 3_600 + minute * 60 + second
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
        append(hour, 2)
        output.append(0x3A)
        append(minute, 2)
        output.append(0x3A)
        append(second, 2)
    }
}

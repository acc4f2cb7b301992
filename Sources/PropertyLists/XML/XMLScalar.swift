/// Numbers and dates as XML has them.
enum XMLScalar {
    static func integer(_ range: Range<Int>, in source: ByteView, offset: Int)
        throws(PropertyListError) -> Node
    {
        var at = range.lowerBound
        let isNegative = source[at] == 0x2D
        if isNegative || source[at] == 0x2B { at += 1 }
        var base: UInt64 = 10
        if at + 1 < range.upperBound, source[at] == 0x30, source[at + 1] | 0x20 == 0x78 {
            base = 16
            at += 2
        }
        guard at < range.upperBound else {
            throw PropertyListError(.corrupted, "integer without digits", offset: offset)
        }
        var value: UInt64 = 0
        while at < range.upperBound {
            guard let digit = hexadecimalDigit(source[at]), digit < base else {
                throw PropertyListError(.corrupted, "integer with another character", offset: at)
            }
            let (product, first) = value.multipliedReportingOverflow(by: base)
            let (sum, second) = product.addingReportingOverflow(UInt64(digit))
            guard !first, !second else {
                throw PropertyListError(.corrupted, "integer beyond 64 bits", offset: offset)
            }
            value = sum
            at += 1
        }
        if isNegative {
            guard value <= 1 << 63 else {
                throw PropertyListError(.corrupted, "integer below -2^63", offset: offset)
            }
            return Node(.integer, offset: offset, payload: 0 &- value)
        }
        return Node(value >> 63 == 0 ? .integer : .unsigned, offset: offset, payload: value)
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    static func real(_ range: Range<Int>, in source: ByteView, offset: Int)
        throws(PropertyListError) -> Double
    {
        // Up to 15 digits and a point: both numbers are exact, so that their quotient is rounded once, correctly.
        var at = range.lowerBound
        let isNegative = source[at] == 0x2D
        if isNegative { at += 1 }
        var value = 0
        var digits = 0
        var point: Int?
        while at < range.upperBound {
            let byte = source[at]
            if byte >= 0x30, byte <= 0x39 {
                guard digits < 15 else { break }
                value = value &* 10 &+ Int(byte &- 0x30)
                digits += 1
            } else if byte == 0x2E, point == nil {
                point = digits
            } else {
                break
            }
            at += 1
        }
        if at == range.upperBound, digits > 0 {
            let number = Double(value) / powers[digits - (point ?? digits)]
            return isNegative ? -number : number
        }
        let text = source.part(range).text
        switch text.lowercased() {
        case "nan": return .nan
        case "inf", "infinity", "+inf", "+infinity": return .infinity
        case "-inf", "-infinity": return -.infinity
        default: break
        }
        guard let number = Double(text), !number.isNaN else {
            throw PropertyListError(.corrupted, "real that is not a number", offset: offset)
        }
        return number
    }

    /// Seconds since 2001 of `YYYY-MM-DDTHH:MM:SSZ`.
    static func date(_ range: Range<Int>, in source: ByteView, offset: Int)
        throws(PropertyListError) -> Double
    {
        var at = range.lowerBound
        func failure() -> PropertyListError {
            PropertyListError(.corrupted, "date that is not YYYY-MM-DDTHH:MM:SSZ", offset: offset)
        }
        func number(_ least: Int, _ most: Int) throws(PropertyListError) -> Int {
            var value = 0
            var digits = 0
            while digits < most, at < range.upperBound, source[at] >= 0x30, source[at] <= 0x39 {
                value = value * 10 + Int(source[at] - 0x30)
                digits += 1
                at += 1
            }
            guard digits >= least else { throw failure() }
            return value
        }
        func skip(_ byte: UInt8) throws(PropertyListError) {
            guard at < range.upperBound, source[at] == byte else { throw failure() }
            at += 1
        }
        let isNegative = source[at] == 0x2D
        if isNegative { at += 1 }
        let year = try number(4, 9)
        try skip(0x2D)
        let month = try number(2, 2)
        try skip(0x2D)
        let day = try number(2, 2)
        try skip(0x54)
        let hour = try number(2, 2)
        try skip(0x3A)
        let minute = try number(2, 2)
        try skip(0x3A)
        let second = try number(2, 2)
        try skip(0x5A)
        let date = CivilDate(
            year: isNegative ? -year : year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second
        )
        guard at == range.upperBound, let date else { throw failure() }
        return Double(date.secondsSince2001)
    }
}

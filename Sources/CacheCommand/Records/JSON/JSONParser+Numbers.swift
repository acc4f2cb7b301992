import KeyedArchive

extension JSONParser {
    /// The powers of ten that a double holds exactly.
    private static let exactPowers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18,
        1e19, 1e20, 1e21, 1e22,
    ]

    /// Whole numbers up to this are exact in a double.
    private static let exactWhole: UInt64 = 1 << 53

    /// Parses the number at the position.
    mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> PlainValues.Item {
        let start = position
        var number = JSONNumber()
        number.isNegative = bytes[position] == UInt8(ascii: "-")
        if number.isNegative { position += 1 }
        try wholePart(bytes, into: &number)
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            number.isWhole = false
            number.fractionDigits = try digits(bytes, into: &number)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            number.isWhole = false
            try exponent(bytes, into: &number)
        }
        if number.isWhole {
            // The nearest double would be another number.
            guard let value = number.wholeValue else {
                throw JSONError(code: .integerOutOfRange, offset: start)
            }
            return value
        }
        if let value = exactDouble(number) { return .real(value) }
        let text = Self.text(bytes.extracting(start..<position)) ?? ""
        guard let value = Double(text), value.isFinite else {
            throw JSONError(code: .numberOutOfRange, offset: start)
        }
        return .real(value)
    }

    private mutating func wholePart(_ bytes: Span<UInt8>, into number: inout JSONNumber) throws(JSONError) {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        if bytes[position] == UInt8(ascii: "0") {
            position += 1
            // A number does not begin with 0 unless that is its whole part.
            if position < bytes.count, Self.isDigit(bytes[position]) { throw error(.badNumber) }
        } else {
            _ = try digits(bytes, into: &number)
        }
    }

    /// Parses at least one digit and returns how many there were.
    private mutating func digits(_ bytes: Span<UInt8>, into number: inout JSONNumber) throws(JSONError) -> Int {
        let start = position
        while position < bytes.count, Self.isDigit(bytes[position]) {
            number.append(digit: bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        guard position > start else { throw error(position < bytes.count ? .badNumber : .unexpectedEnd) }
        return position - start
    }

    private mutating func exponent(_ bytes: Span<UInt8>, into number: inout JSONNumber) throws(JSONError) {
        var isNegative = false
        if position < bytes.count,
            bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
        {
            isNegative = bytes[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        while position < bytes.count, Self.isDigit(bytes[position]) {
            // Beyond this, further digits do not change the result, and the sum stays far from overflowing.
            if number.exponent < 100_000 {
                number.exponent = number.exponent * 10 + Int(bytes[position] - UInt8(ascii: "0"))
            }
            position += 1
        }
        guard position > start else { throw error(position < bytes.count ? .badNumber : .unexpectedEnd) }
        if isNegative { number.exponent = -number.exponent }
    }

    /// The nearest double, where digits and power of ten are both exact doubles: one rounding is correct
    /// (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
    private func exactDouble(_ number: JSONNumber) -> Double? {
        guard let digits = number.digits, digits <= Self.exactWhole else { return nil }
        let power = number.exponent - number.fractionDigits
        let magnitude: Double
        switch power {
        case 0...22: magnitude = Double(digits) * Self.exactPowers[power]
        case -22..<0: magnitude = Double(digits) / Self.exactPowers[-power]
        default: return nil
        }
        return number.isNegative ? -magnitude : magnitude
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}

/// The parts of a JSON number, as they are read.
struct JSONNumber {
    var isNegative = false
    /// Whether it has neither fraction nor exponent.
    var isWhole = true
    /// All digits as one number, or `nil` if they do not fit.
    private(set) var digits: UInt64? = 0
    /// How many of the digits stand after the point.
    var fractionDigits = 0
    var exponent = 0

    mutating func append(digit: UInt8) {
        guard let sofar = digits else { return }
        let (product, overflowed) = sofar.multipliedReportingOverflow(by: 10)
        let (sum, carried) = product.addingReportingOverflow(UInt64(digit))
        digits = overflowed || carried ? nil : sum
    }

    /// The number, if it is whole and an integer type holds it.
    var wholeValue: PlainValues.Item? {
        guard let digits else { return nil }
        guard isNegative else {
            return Int64(exactly: digits).map(PlainValues.Item.integer) ?? .unsigned(digits)
        }
        guard digits > 0 else { return .real(-0.0) }
        if digits == Int64.min.magnitude { return .integer(.min) }
        return Int64(exactly: digits).map { .integer(-$0) }
    }
}

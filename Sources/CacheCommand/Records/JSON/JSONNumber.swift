/// The parts of a JSON number, as they are read.
struct JSONNumber {
    var isNegative = false
    /// Whether it has neither fraction nor exponent.
    var isWhole = true
    /// All digits as one number, or `nil` if they do not fit.
    private(set) var digits: UInt64? = 0
    /// How many of the digits stand behind the point.
    var fractionDigits = 0
    var exponent = 0

    mutating func append(digit: UInt8) {
        guard let sofar = digits else { return }
        let (product, overflowed) = sofar.multipliedReportingOverflow(by: 10)
        let (sum, carried) = product.addingReportingOverflow(UInt64(digit))
        digits = overflowed || carried ? nil : sum
    }

    /// The number, if it is whole and an integer type holds it.
    var wholeValue: RecordValue? {
        guard let digits else { return nil }
        guard isNegative else {
            return Int64(exactly: digits).map(RecordValue.int) ?? .uint(digits)
        }
        guard digits > 0 else { return .double(-0.0) }
        if digits == Int64.min.magnitude { return .int(.min) }
        return Int64(exactly: digits).map { .int(-$0) }
    }
}

/// A time after which records expire, as written on a command line: a whole number and a unit.
struct TimeToLive: Sendable, Equatable {
    let duration: Duration

    private static let seconds: [Character: Int64] = [
        "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800,
    ]

    /// A thousand years: dates beyond it have no use, and sums with it stay far from overflowing.
    private static let longest: Int64 = 1_000 * 366 * 86_400

    init(parsing text: String) throws(InvalidValue) {
        let invalid = InvalidValue(text, expected: "a time such as 30s, 10m, 12h, 7d or 2w")
        guard let unit = text.last.flatMap({ Self.seconds[$0] }) else { throw invalid }
        let digits = text.dropLast()
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let count = Int64(digits), count > 0 else {
            throw invalid
        }
        let (total, overflowed) = count.multipliedReportingOverflow(by: unit)
        guard !overflowed, total <= Self.longest else {
            throw InvalidValue(text, expected: "at most a thousand years")
        }
        duration = .seconds(total)
    }
}

/// A number with a fixed count of digits behind the point: `5.4`.
struct DecimalText: CustomStringConvertible {
    let description: String

    init(_ number: Double, fractionDigits: Int) {
        var scale = 1.0
        for _ in 0..<fractionDigits { scale *= 10 }
        let scaled = (number * scale).rounded()
        guard scaled.magnitude < 0x1p53, fractionDigits > 0 else {
            description = "\(number.rounded())".replacing(".0", with: "")
            return
        }
        let (whole, part) = Int(scaled.magnitude).quotientAndRemainder(dividingBy: Int(scale))
        let digits = String(part)
        let zeros = String(repeating: "0", count: fractionDigits - digits.count)
        description = "\(scaled < 0 ? "-" : "")\(whole).\(zeros)\(digits)"
    }
}

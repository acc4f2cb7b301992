/// A whole number for people: `34,006`.
struct CountText: CustomStringConvertible {
    let description: String

    init(_ count: Int) {
        let digits = Array(String(count.magnitude))
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        description = text
    }

    /// A number with its noun: `1 entry`, `34,006 entries`.
    init(_ count: Int, _ one: String, plural many: String) {
        description = "\(CountText(count)) \(count == 1 ? one : many)"
    }
}

/// A number of bytes for people: `512 B`, `5.4 MiB`.
struct ByteText: CustomStringConvertible {
    let description: String

    init(_ bytes: Int) {
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var amount = Double(bytes)
        var unit = -1
        // An amount that would show as 1024.0 shows as 1.0 of the next unit.
        while unit < units.count - 1, amount.magnitude >= (unit < 0 ? 1024 : 1023.95) {
            amount /= 1024
            unit += 1
        }
        description = unit < 0 ? "\(bytes) B" : "\(DecimalText(amount, fractionDigits: 1)) \(units[unit])"
    }
}

/// A number with a fixed count of digits after the point: `5.4`.
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

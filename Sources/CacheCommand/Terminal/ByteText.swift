/// A number of bytes for people: `512 B`, `5.4 MiB`.
package struct ByteText: CustomStringConvertible {
    package let description: String

    package init(_ bytes: Int) {
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

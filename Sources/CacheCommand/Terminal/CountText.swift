/// A whole number for people: `34,006`.
package struct CountText: CustomStringConvertible {
    package let description: String

    package init(_ count: Int) {
        let digits = Array(String(count.magnitude))
        var text = count < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        description = text
    }

    /// A number with its noun: `1 entry`, `34,006 entries`.
    package init(_ count: Int, _ one: String, _ many: String) {
        description = "\(CountText(count)) \(count == 1 ? one : many)"
    }
}

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
}

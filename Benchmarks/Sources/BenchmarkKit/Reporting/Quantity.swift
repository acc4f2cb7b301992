/// A number with or without a unit, as parameters have them: `1000`, `1,000`, `0.3 KiB`, `50 %`.
struct Quantity {
    let value: Double

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let first = parts.first, let number = Double(first.filter { $0 != "," }), number.isFinite else {
            return nil
        }
        let factor: Double
        switch parts.count > 1 ? parts[1] : "" {
        case "KiB": factor = 1_024
        case "MiB": factor = 1_048_576
        case "GiB": factor = 1_073_741_824
        default: factor = 1
        }
        value = number * factor
    }
}

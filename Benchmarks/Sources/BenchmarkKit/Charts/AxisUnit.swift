/// The unit of an axis, chosen so that its figures are neither tiny nor huge.
struct AxisUnit {
    let name: String
    /// Figures in the measured unit are divided by this.
    let divisor: Double

    /// - Parameters:
    ///   - unit: the unit that was measured in; `bytes` become KiB or MiB, so that round figures on the axis are
    ///     round in these.
    ///   - highest: the highest figure.
    init(_ unit: String, highest: Double) {
        switch unit == "bytes" ? highest : 0 {
        case 1_048_576...: (name, divisor) = ("MiB", 1_048_576)
        case 1_024...: (name, divisor) = ("KiB", 1_024)
        default: (name, divisor) = (unit, 1)
        }
    }
}

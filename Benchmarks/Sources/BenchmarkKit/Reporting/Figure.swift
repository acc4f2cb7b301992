import Foundation

/// Writes figures for people: three digits that matter, and a unit.
enum Figure {
    /// - Parameter nanoseconds: a duration.
    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: digits(nanoseconds) + " ns"
        case ..<1e6: digits(nanoseconds / 1e3) + " µs"
        case ..<1e9: digits(nanoseconds / 1e6) + " ms"
        default: digits(nanoseconds / 1e9) + " s"
        }
    }

    /// How many times as much as something else.
    static func ratio(_ ratio: Double) -> String { digits(ratio) + "×" }

    static func count(_ count: Double) -> String {
        count == count.rounded() ? whole(count) : digits(count)
    }

    /// - Parameter unit: `bytes` are written in the largest unit that suits; every other unit follows as it is.
    static func value(_ value: Double, unit: String) -> String {
        if unit == "ns" { return time(value) }
        if unit.isEmpty { return count(value) }
        guard unit == "bytes" else { return "\(count(value)) \(unit)" }
        switch abs(value) {
        case ..<1_024: return count(value) + " B"
        case ..<1_048_576: return digits(value / 1_024) + " KiB"
        default: return digits(value / 1_048_576) + " MiB"
        }
    }

    /// At least three digits, and no decimals beyond them; two digits of a very small figure.
    static func digits(_ value: Double) -> String {
        switch abs(value) {
        case 0: "0"
        case ..<0.0995: String(format: "%.2g", value)
        case ..<9.995: String(format: "%.2f", value)
        case ..<99.95: String(format: "%.1f", value)
        default: whole(value)
        }
    }

    /// With commas between thousands, in every locale.
    private static func whole(_ value: Double) -> String {
        guard abs(value) < 1e15 else { return String(format: "%.3g", value) }
        var digits = String(Int(abs(value.rounded())))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (value.rounded() < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }
}

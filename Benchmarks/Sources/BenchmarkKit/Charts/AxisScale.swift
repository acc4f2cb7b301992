import Foundation

/// Places figures along an axis.
struct AxisScale {
    let domain: ClosedRange<Double>
    let isLogarithmic: Bool
    /// Where the domain begins and ends in the image; the end may be the smaller one.
    let start: Double
    let end: Double

    func position(_ value: Double) -> Double {
        let clamped = min(max(value, domain.lowerBound), domain.upperBound)
        let (low, high, here) =
            isLogarithmic
            ? (log(domain.lowerBound), log(domain.upperBound), log(clamped))
            : (domain.lowerBound, domain.upperBound, clamped)
        return start + (end - start) * (high > low ? (here - low) / (high - low) : 0.5)
    }

    /// Round figures within the domain, at least `distance` apart in the image.
    ///
    /// - Parameter first: a figure that must be among them if it is in the domain.
    func ticks(distance: Double, first: Double? = nil) -> [Double] {
        var kept = first.map { domain.contains($0) ? [$0] : [] } ?? []
        for candidate in isLogarithmic ? logarithmicCandidates : linearCandidates(distance)
        where kept.allSatisfy({ abs(position($0) - position(candidate)) >= distance }) {
            kept.append(candidate)
        }
        return kept.sorted()
    }

    /// Powers of ten first: they stay when there is no room for more.
    private var logarithmicCandidates: [Double] {
        let exponents = Int(log10(domain.lowerBound).rounded(.down))...Int(log10(domain.upperBound).rounded(.up))
        return [1.0, 5, 2].flatMap { digit in exponents.map { digit * pow(10, Double($0)) } }
            .filter(domain.contains)
    }

    private func linearCandidates(_ distance: Double) -> [Double] {
        let span = domain.upperBound - domain.lowerBound
        guard span > 0 else { return [domain.lowerBound] }
        let room = max(1, abs(end - start) / distance)
        let magnitude = pow(10, log10(span / room).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * magnitude }.first { span / $0 <= room } ?? span
        let first = (domain.lowerBound / step).rounded(.up) * step
        return Array(stride(from: first, through: domain.upperBound, by: step))
    }
}

/// How a figure differs between two runs.
struct Change: Equatable {
    /// A smaller change of a figure may be chance, however narrow the ranges are.
    static let threshold = 0.05

    let identity: FindingIdentity
    let isOurs: Bool
    let before: ComparedFigure
    let after: ComparedFigure

    enum Verdict: String {
        case better, worse, noise
    }

    /// The later figure as a multiple of the earlier one; 1 if both are 0.
    var ratio: Double { before.value == after.value ? 1 : after.value / before.value }

    /// Whether the figure changed, which it did only if the ranges in which it was met are apart as well.
    var verdict: Verdict {
        if before.range.overlaps(after.range) || abs(ratio - 1) <= Self.threshold { return .noise }
        return (after.value < before.value) == (after.better == .lower) ? .better : .worse
    }
}

/// The changes from one run to another.
package struct RunComparison {
    let changes: [Change]
    let appeared: [FindingIdentity]
    let disappeared: [FindingIdentity]
    /// Why the two runs are no fair comparison, as sentences.
    let warnings: [String]

    package init(before: Run, after: Run) {
        let earlier = Self.figures(before)
        let later = Self.figures(after)
        let earlierByIdentity = Dictionary(
            earlier.map { ($0.identity, $0.figures) },
            uniquingKeysWith: { first, _ in first }
        )
        let laterIdentities = Set(later.map(\.identity))
        changes = later.flatMap { found in
            found.figures.compactMap { figure in
                earlierByIdentity[found.identity]?.first { $0.metric == figure.metric }
                    .map { Change(identity: found.identity, isOurs: found.isOurs, before: $0, after: figure) }
            }
        }
        appeared = later.map(\.identity).filter { earlierByIdentity[$0] == nil }
        // A suite that was not asked for did not disappear.
        let suites = Set(after.suites)
        disappeared = earlier.map(\.identity).filter { suites.contains($0.suite) && !laterIdentities.contains($0) }
        var warnings: [String] = []
        if before.machine != after.machine { warnings.append("The machines differ: compare ratios only.") }
        if before.toolchain != after.toolchain { warnings.append("The toolchains differ.") }
        if before.isQuick || after.isQuick { warnings.append("Quick runs are rough.") }
        self.warnings = warnings
    }

    /// How much the peers' times changed, in the median: the peers did not change, so the machine did. `nil` where no
    /// times of peers were compared.
    var drift: Double? {
        let ratios = changes.filter { !$0.isOurs && $0.before.metric == "time" }.map(\.ratio)
        return ratios.isEmpty ? nil : Percentile.value(0.5, of: ratios)
    }

    private typealias Found = (identity: FindingIdentity, isOurs: Bool, figures: [ComparedFigure])

    /// The figures that were measured and can be compared.
    private static func figures(_ run: Run) -> [Found] {
        run.findings.map { ($0.identity, $0.isOurs, ComparedFigure.all(of: $0.outcome)) }
            .filter { !$0.figures.isEmpty }
    }
}

extension RunComparison {
    /// The text to print: warnings, then figures that became worse, then the others.
    package var text: String {
        var lines = warnings
        for verdict in [Change.Verdict.worse, .better] {
            let changed = changes.filter { $0.verdict == verdict }
            if changed.isEmpty { continue }
            lines += ["", "\(verdict.rawValue):"]
            lines += changed.map(Self.line)
        }
        for (name, identities) in [("appeared", appeared), ("disappeared", disappeared)] where !identities.isEmpty {
            lines += ["", "\(name):"]
            lines += identities.map { "  \(Self.name($0))" }
        }
        let noise = changes.count { $0.verdict == .noise }
        lines += ["", "\(noise) of \(changes.count) figures are the same but for noise."]
        if let drift {
            lines.append("The peers' times became \(Figure.ratio(drift)) in the median, which is the machine.")
        }
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }

    private static func line(_ change: Change) -> String {
        let before = Figure.value(change.before.value, unit: change.before.unit)
        let after = Figure.value(change.after.value, unit: change.after.unit)
        return "  \(name(change.identity)): \(change.after.metric) \(before) → \(after), "
            + Figure.ratio(change.ratio)
    }

    private static func name(_ identity: FindingIdentity) -> String {
        "\(identity.suite), \(identity.title), \(identity.subject)"
    }
}

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

/// One figure of a finding, with the range in which it was met.
struct ComparedFigure: Equatable {
    let metric: String
    let value: Double
    let range: ClosedRange<Double>
    let unit: String
    let better: Direction

    /// The figures of an outcome that can be compared between runs.
    static func all(of outcome: Outcome) -> [ComparedFigure] {
        switch outcome {
        case .time(let figures):
            var all = [ComparedFigure("time", figures.nanoseconds, unit: "ns", better: .lower)]
            if let allocations = figures.allocations {
                all.append(ComparedFigure("allocations", Summary([allocations]), unit: "", better: .lower))
            }
            if let bytes = figures.bytes {
                all.append(ComparedFigure("size", Summary([Double(bytes)]), unit: "bytes", better: .lower))
            }
            return all
        case .latency(let latencies):
            return [
                ComparedFigure(
                    metric: "latency",
                    value: latencies.p50,
                    range: latencies.p10...latencies.p90,
                    unit: "ns",
                    better: .lower
                )
            ]
        case .value(let figures):
            return [ComparedFigure("value", figures.summary, unit: figures.unit, better: figures.better)]
        case .unavailable: return []
        }
    }
}

extension ComparedFigure {
    private init(_ metric: String, _ summary: Summary, unit: String, better: Direction) {
        self.init(
            metric: metric,
            value: summary.median,
            range: summary.p10...summary.p90,
            unit: unit,
            better: better
        )
    }
}

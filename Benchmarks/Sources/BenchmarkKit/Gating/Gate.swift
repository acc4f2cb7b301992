/// Bounds that a run must keep.
///
/// A file of them has a line for each, with tabs between suite, work, subject, metric and bound; empty lines and
/// those that begin with `#` say nothing.
package struct Gate {
    let rules: [GateRule]

    package init(text: String) throws(GateError) {
        var rules: [GateRule] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.isEmpty || line.hasPrefix("#") { continue }
            let fields = line.split(separator: "\t").map(String.init)
            rules.append(try GateRule(fields: fields, line: index + 1))
        }
        self.rules = rules
    }

    /// The bounds that do not hold, as sentences. Bounds on suites that did not run say nothing, but a bound on a
    /// figure that its suite did not measure does not hold: the missing figure would never be noticed otherwise.
    package func breaches(in run: Run) -> [String] {
        let suites = Set(run.suites)
        return rules.filter { suites.contains($0.suite) }.flatMap { Self.breaches(of: $0, run.findings) }
    }

    private static func breaches(of rule: GateRule, _ findings: [Finding]) -> [String] {
        let matching = findings.filter(rule.matches)
        // A peer that is not on this machine is no fault of the measured code.
        if matching.contains(where: { $0.outcome.isUnavailable }) { return [] }
        let figures = matching.compactMap(rule.figure)
        // Nor is a system where allocations cannot be counted.
        if figures.isEmpty, rule.metric == .allocations, matching.contains(where: \.outcome.isTime) { return [] }
        if figures.isEmpty { return ["\(rule.name): there is no such figure."] }
        return figures.filter { !rule.bound.holds(for: $0) }.map {
            "\(rule.name): \(Figure.count($0)) is not \(rule.bound)."
        }
    }
}

/// Bounds that a run must keep.
///
/// A file of them has a line for each, with tabs between suite, work, subject, metric and bound; empty lines and
/// lines that begin with `#` are skipped.
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

/// One bound on one figure of one finding.
struct GateRule: Equatable {
    /// Figures that depend on the machine little enough to be bounded: never times.
    enum Metric: String {
        case ratio, allocations, value
    }

    let suite: String
    /// The work with its parameters, as tables show it.
    let title: String
    let subject: String
    let metric: Metric
    let bound: Bound

    /// - Parameter fields: of a line; suite, work, subject, metric, bound.
    init(fields: [String], line: Int) throws(GateError) {
        guard fields.count == 5 else {
            throw GateError(line: line, message: "there must be 5 fields with tabs between, not \(fields.count).")
        }
        guard let metric = Metric(rawValue: fields[3]) else {
            throw GateError(line: line, message: "\(fields[3]) is not one of ratio, allocations, value.")
        }
        guard let bound = Bound(fields[4]) else {
            throw GateError(line: line, message: "\(fields[4]) is no bound such as \"<= 12\" or \">= 20\".")
        }
        suite = fields[0]
        title = fields[1]
        subject = fields[2]
        self.metric = metric
        self.bound = bound
    }

    /// The figure that the rule bounds, if the finding has it.
    func figure(of finding: Finding) -> Double? {
        switch (metric, finding.outcome) {
        case (.ratio, .time(let figures)): figures.ratio?.median
        case (.allocations, .time(let figures)): figures.allocations
        case (.value, .value(let figures)): figures.summary.median
        default: nil
        }
    }

    func matches(_ finding: Finding) -> Bool {
        finding.suite == suite && finding.title == title && finding.subject == subject
    }

    var name: String { "\(suite), \(title), \(subject), \(metric.rawValue)" }
}

/// A limit that a figure must not exceed, or fall below.
struct Bound: Equatable, CustomStringConvertible {
    enum Relation: String {
        case atMost = "<="
        case atLeast = ">="
    }

    let relation: Relation
    let limit: Double

    /// - Parameter text: such as `<= 12` or `>= 20`.
    init?(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let relation = Relation(rawValue: String(parts[0])),
            let limit = Double(parts[1]), limit.isFinite
        else { return nil }
        self.relation = relation
        self.limit = limit
    }

    func holds(for value: Double) -> Bool {
        switch relation {
        case .atMost: value <= limit
        case .atLeast: value >= limit
        }
    }

    var description: String { "\(relation.rawValue) \(Figure.count(limit))" }
}

/// A fault in a file of bounds.
package struct GateError: Error, Equatable, CustomStringConvertible {
    /// From 1.
    let line: Int
    let message: String

    package var description: String { "Line \(line) of the gate: \(message)" }
}

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

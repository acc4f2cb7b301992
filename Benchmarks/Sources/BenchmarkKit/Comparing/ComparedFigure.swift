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

/// The charts of a suite: lines for figures that grow with a number, bars for the rest.
enum SuiteCharts {
    /// More rows than that are hard to take in.
    private static let rowsPerChart = 30

    /// - Parameter findings: those of the suite.
    static func charts(suite: String, findings: [Finding]) -> [Chart] {
        let drawable = findings.filter { figure($0.outcome) != nil }
        let (growths, rest) = Growth.split(drawable)
        return ratios(suite, rest) + values(suite, rest) + growths.map { line(suite, $0) }
    }

    private static func line(_ suite: String, _ growth: Growth) -> Chart {
        let first = growth.findings[0]
        let others = first.parameters.filter { $0.key != growth.parameter }.sorted { $0.key < $1.key }
        let title = ([first.work] + others.map { "\($0.key) \($0.value)" }).joined(separator: ", ")
        let texts = Set(growth.findings.compactMap { $0.parameters[growth.parameter] })
        let places = texts.compactMap { text in Quantity(text).map { (value: $0.value, text: text) } }
        let highest = growth.findings.compactMap { figure($0.outcome)?.value }.max() ?? 0
        let unit = AxisUnit(first.outcome.unit, highest: highest)
        let series = names(growth.findings).map { name in
            let own = growth.findings.filter { $0.subject == name }
            let points = own.compactMap { finding -> LineChart.Point? in
                guard let place = finding.parameters[growth.parameter].flatMap(Quantity.init),
                    let figure = figure(finding.outcome)
                else { return nil }
                return LineChart.Point(x: place.value, y: figure.value / unit.divisor)
            }
            return LineChart.Series(
                label: name,
                isOurs: own.contains(where: \.isOurs),
                points: points.sorted { $0.x < $1.x }
            )
        }
        let chart = LineChart(
            title: "\(suite): \(title)",
            caption: caption(first.outcome),
            axis: growth.parameter,
            places: places.sorted { $0.value < $1.value },
            unit: unit.name,
            series: series
        )
        return Chart(title: chart.title, svg: chart.svg)
    }

    private static func ratios(_ suite: String, _ findings: [Finding]) -> [Chart] {
        let groups = groups(findings) { finding in
            guard case .time(let figures) = finding.outcome, let ratio = figures.ratio else { return nil }
            let time = Figure.time(figures.nanoseconds.median)
            return BarChart.Bar(
                label: finding.subject,
                value: ratio.median,
                range: ratio.p10...ratio.p90,
                text: "\(time), \(Figure.ratio(ratio.median))",
                isOurs: finding.isOurs
            )
        }
        return bars(
            "\(suite): time as a multiple of ours",
            "Logarithmic; right of the line is slower than this package. Thin lines: 10 % to 90 % of the samples.",
            .ratios,
            groups
        )
    }

    private static func values(_ suite: String, _ findings: [Finding]) -> [Chart] {
        var seen = Set<String>()
        let found = findings.compactMap { finding -> ValueFigures? in
            guard case .value(let figures) = finding.outcome else { return nil }
            return seen.insert(figures.unit).inserted ? figures : nil
        }
        return found.flatMap { figures in
            let alike = findings.filter { $0.outcome.unit == figures.unit }
            let highest = alike.compactMap { figure($0.outcome)?.value }.max() ?? 0
            let unit = AxisUnit(figures.unit, highest: highest)
            let groups = groups(alike) { finding in
                figure(finding.outcome).map { figure in
                    BarChart.Bar(
                        label: finding.subject,
                        value: figure.value / unit.divisor,
                        range: figure.range.map {
                            $0.lowerBound / unit.divisor...$0.upperBound / unit.divisor
                        },
                        text: Figure.value(figure.value, unit: figures.unit),
                        isOurs: finding.isOurs
                    )
                }
            }
            return bars(
                "\(suite), \(figures.unit)",
                figures.better == .lower ? "Less is better." : "More is better.",
                .values(unit: unit.name),
                groups
            )
        }
    }

    /// Several charts if there are too many rows for one.
    private static func bars(
        _ title: String,
        _ caption: String,
        _ kind: BarChart.Kind,
        _ groups: [BarChart.Group]
    ) -> [Chart] {
        var parts: [[BarChart.Group]] = []
        for group in groups where group.bars.count > 1 {
            let rows = parts.last?.reduce(group.bars.count) { $0 + $1.bars.count } ?? .max
            if rows > rowsPerChart { parts.append([]) }
            parts[parts.count - 1].append(group)
        }
        return parts.enumerated().map { index, groups in
            let name = parts.count > 1 ? "\(title) (\(index + 1) of \(parts.count))" : title
            return Chart(
                title: name,
                svg: BarChart(title: name, caption: caption, kind: kind, groups: groups).svg
            )
        }
    }

    private static func groups(
        _ findings: [Finding],
        bar: (Finding) -> BarChart.Bar?
    ) -> [BarChart.Group] {
        var titles: [String] = []
        var members: [String: [BarChart.Bar]] = [:]
        for finding in findings {
            guard let bar = bar(finding) else { continue }
            if members[finding.title] == nil { titles.append(finding.title) }
            members[finding.title, default: []].append(bar)
        }
        return titles.map { BarChart.Group(title: $0, bars: members[$0] ?? []) }
    }

    private static func names(_ findings: [Finding]) -> [String] {
        var seen = Set<String>()
        return findings.map(\.subject).filter { seen.insert($0).inserted }
    }

    /// The figure of an outcome to draw, with its range; latencies are left to the tables.
    private static func figure(_ outcome: Outcome) -> (value: Double, range: ClosedRange<Double>?)? {
        switch outcome {
        case .time(let figures):
            let summary = figures.nanoseconds
            return (summary.median, summary.p10...summary.p90)
        case .value(let figures):
            let summary = figures.summary
            return (summary.median, summary.samples > 1 ? summary.p10...summary.p90 : nil)
        case .latency, .unavailable: return nil
        }
    }

    private static func caption(_ outcome: Outcome) -> String {
        guard case .value(let figures) = outcome else { return "Time for doing it once; less is better." }
        return figures.better == .lower ? "Less is better." : "More is better."
    }
}

/// Horizontal bars, in groups.
struct BarChart {
    struct Bar {
        let label: String
        let value: Double
        /// The range in which the figure was met, if there were several samples.
        let range: ClosedRange<Double>?
        /// The figure with its unit, in words.
        let text: String
        let isOurs: Bool
    }

    struct Group {
        let title: String
        let bars: [Bar]
    }

    enum Kind {
        /// Multiples of ours: bars begin at 1, on a logarithmic axis.
        case ratios
        /// Plain figures: bars begin at 0.
        case values(unit: String)
    }

    let title: String
    let caption: String
    let kind: Kind
    let groups: [Group]

    private static let width = 880.0
    private static let margin = 20.0
    private static let rowHeight = 22.0
    private static let top = 62.0

    var svg: String {
        var document = SVGDocument(width: Self.width, title: title)
        document.text(title, x: Self.margin, y: 30, style: "title")
        document.text(caption, x: Self.margin, y: 50, style: "small")
        let scale = scale
        // None is much longer than the one for some figure at the end.
        let distance = max(52, TextWidth.of(tickText(scale.domain.upperBound.rounded(.up)), size: 12) + 12)
        let ticks = scale.ticks(distance: distance, first: base)
        var y = Self.top
        for group in groups {
            document.text(group.title, x: Self.margin, y: y + 18, style: "group")
            y += 26
            draw(group, from: y, scale, ticks, into: &document)
            y += Double(group.bars.count) * Self.rowHeight + 10
        }
        for tick in ticks {
            document.text(tickText(tick), x: scale.position(tick), y: y + 8, anchor: .middle, style: "small")
        }
        return document.rendered(height: y + 24)
    }

    private func draw(
        _ group: Group,
        from top: Double,
        _ scale: AxisScale,
        _ ticks: [Double],
        into document: inout SVGDocument
    ) {
        let bottom = top + Double(group.bars.count) * Self.rowHeight
        for tick in ticks where tick != base {
            let x = scale.position(tick)
            document.line(from: (x, top), to: (x, bottom), style: "grid")
        }
        for (row, bar) in group.bars.enumerated() {
            let y = top + Double(row) * Self.rowHeight
            let labelStyle = bar.isOurs ? "ours" : "text"
            document.text(bar.label, x: scale.start - 10, y: y + 15, anchor: .end, style: labelStyle)
            document.text(bar.text, x: Self.width - Self.margin, y: y + 15, anchor: .end)
            let edges = [scale.position(base), scale.position(bar.value)].sorted()
            document.bar(
                x: edges[0],
                y: y + 4,
                width: max(edges[1] - edges[0], bar.isOurs ? 4 : 2),
                height: Self.rowHeight - 8,
                style: style(of: bar)
            )
            if let range = bar.range, scale.position(range.upperBound) - scale.position(range.lowerBound) > 2 {
                let middle = y + Self.rowHeight / 2
                let ends = (scale.position(range.lowerBound), scale.position(range.upperBound))
                document.line(from: (ends.0, middle), to: (ends.1, middle), style: "whisker")
            }
        }
        let x = scale.position(base)
        document.line(from: (x, top), to: (x, bottom), style: "base")
    }

    private var base: Double {
        switch kind {
        case .ratios: 1
        case .values: 0
        }
    }

    private var scale: AxisScale {
        let bars = groups.flatMap(\.bars)
        let labels = bars.map { TextWidth.of($0.label) }.max() ?? 0
        let texts = bars.map { TextWidth.of($0.text) }.max() ?? 0
        return AxisScale(
            domain: domain,
            isLogarithmic: base == 1,
            start: Self.margin + labels + 10,
            end: Self.width - Self.margin - texts - 24
        )
    }

    /// The figures that the axis shows. Ratios to a figure near 0 have no bound: their ranges are cut off at its ends.
    private var domain: ClosedRange<Double> {
        let bars = groups.flatMap(\.bars)
        switch kind {
        case .ratios:
            let values = bars.map(\.value)
            return max(min((values.min() ?? 1) / 1.2, 0.85), 1e-4)...max((values.max() ?? 1) * 1.2, 1.25)
        case .values:
            let lowest = bars.map { $0.range?.lowerBound ?? $0.value }.min() ?? 0
            let highest = bars.map { $0.range?.upperBound ?? $0.value }.max() ?? 0
            return min(lowest, 0)...max(highest, 1e-9)
        }
    }

    private func style(of bar: Bar) -> String {
        if bar.isOurs { return "ours" }
        if case .ratios = kind, bar.value < 1 { return "faster" }
        return "peer"
    }

    private func tickText(_ tick: Double) -> String {
        switch kind {
        case .ratios: tick == 1 ? "ours" : Figure.short(tick) + "×"
        case .values(let unit): Figure.tick(tick, unit: unit)
        }
    }
}

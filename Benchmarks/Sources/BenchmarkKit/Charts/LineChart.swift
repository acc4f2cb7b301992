/// Figures that grow with something: lines over a logarithmic axis.
struct LineChart {
    struct Point {
        let x: Double
        let y: Double
    }

    struct Series {
        let label: String
        let isOurs: Bool
        /// In ascending order.
        let points: [Point]
    }

    let title: String
    let caption: String
    /// The text at the horizontal axis: the quantity with its unit, if it has one.
    let axis: String
    /// The places on it, as they are written; in ascending order.
    let places: [(value: Double, text: String)]
    let unit: String
    let series: [Series]

    private static let width = 880.0
    private static let margin = 20.0
    private static let top = 76.0
    private static let bottom = 376.0
    private static let labelHeight = 18.0

    var svg: String {
        var document = SVGDocument(width: Self.width, title: title)
        document.text(title, x: Self.margin, y: 30, style: "title")
        document.text(caption, x: Self.margin, y: 50, style: "small")
        let vertical = verticalScale
        let ticks = vertical.ticks(distance: 36)
        let horizontal = horizontalScale(beside: ticks)
        for tick in ticks {
            let y = vertical.position(tick)
            document.line(from: (horizontal.start, y), to: (horizontal.end, y), style: "grid")
            document.text(
                Figure.tick(tick, unit: unit),
                x: horizontal.start - 8,
                y: y + 4,
                anchor: .end,
                style: "small"
            )
        }
        drawPlaces(horizontal, into: &document)
        drawSeries(horizontal, vertical, into: &document)
        return document.rendered(height: Self.bottom + 54)
    }

    private func drawPlaces(_ scale: AxisScale, into document: inout SVGDocument) {
        document.line(from: (scale.start, Self.bottom), to: (scale.end, Self.bottom), style: "base")
        var free = -Double.infinity
        for place in places {
            let x = scale.position(place.value)
            let half = TextWidth.of(place.text, size: 12) / 2
            if x - half < free { continue }
            free = x + half + 6
            document.line(from: (x, Self.bottom), to: (x, Self.bottom + 5), style: "base")
            document.text(place.text, x: x, y: Self.bottom + 20, anchor: .middle, style: "small")
        }
        let middle = (scale.start + scale.end) / 2
        document.text(axis, x: middle, y: Self.bottom + 42, anchor: .middle, style: "small")
    }

    /// The lines, ours on top, and beside each its name, moved so far that none covers another.
    private func drawSeries(_ horizontal: AxisScale, _ vertical: AxisScale, into document: inout SVGDocument) {
        let order = series.indices.sorted { series[$0].lastValue > series[$1].lastValue }
        let wanted = order.map { vertical.position(series[$0].lastValue) }
        let range = Self.top...Self.bottom
        let heights = LabelPlacement.spread(wanted, distance: Self.labelHeight, within: range)
        let styles = styles
        for index in series.indices.sorted(by: { !series[$0].isOurs && series[$1].isOurs }) {
            let points = series[index].points.map {
                (x: horizontal.position($0.x), y: vertical.position($0.y))
            }
            document.path(through: points, style: styles[index].line)
            for point in points { document.dot(x: point.x, y: point.y, style: styles[index].label) }
        }
        for (index, height) in zip(order, heights) {
            let end = (
                x: horizontal.position(series[index].points.last?.x ?? 0),
                y: vertical.position(series[index].lastValue)
            )
            let leader = "leader " + styles[index].line
            document.line(from: (end.x + 5, end.y), to: (horizontal.end + 22, height), style: leader)
            document.text(
                series[index].label,
                x: horizontal.end + 26,
                y: height + 4,
                style: styles[index].label
            )
        }
    }

    /// The styles of each line, and of its dots and label.
    private var styles: [(line: String, label: String)] {
        var peers = 0
        return series.map { series in
            if series.isOurs { return ("own", "own-fill") }
            defer { peers += 1 }
            return (ChartStyle.line(peers), ChartStyle.label(peers))
        }
    }

    private var verticalScale: AxisScale {
        let values = series.flatMap(\.points).map(\.y)
        let lowest = values.min() ?? 0
        let highest = max(values.max() ?? 1, 1e-9)
        let isLogarithmic = lowest > 0 && highest / lowest > 12 && unit != "%"
        let floor = isLogarithmic ? lowest / 1.2 : min(0, lowest)
        return AxisScale(
            domain: floor...(isLogarithmic ? highest * 1.2 : highest * 1.05),
            isLogarithmic: isLogarithmic,
            start: Self.bottom,
            end: Self.top
        )
    }

    private func horizontalScale(beside ticks: [Double]) -> AxisScale {
        let tickWidth = ticks.map { TextWidth.of(Figure.tick($0, unit: unit), size: 12) }.max() ?? 0
        let labelWidth = series.map { TextWidth.of($0.label) }.max() ?? 0
        let first = places.first?.value ?? 1
        return AxisScale(
            domain: first...max(places.last?.value ?? 1, first),
            isLogarithmic: first > 0,
            start: Self.margin + tickWidth + 10,
            end: Self.width - Self.margin - labelWidth - 30
        )
    }
}

extension LineChart.Series {
    fileprivate var lastValue: Double { points.last?.y ?? 0 }
}

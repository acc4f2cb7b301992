import Foundation

/// An image that is built from lines, bars and text; it follows the reader's choice of light or dark.
struct SVGDocument {
    enum Anchor: String {
        case start, middle, end
    }

    private var elements: [String] = []
    private let width: Double
    private let title: String

    init(width: Double, title: String) {
        self.width = width
        self.title = title
    }

    mutating func text(_ text: String, x: Double, y: Double, anchor: Anchor = .start, style: String = "text") {
        let position = "x=\"\(Self.number(x))\" y=\"\(Self.number(y))\""
        elements.append(
            "<text \(position) text-anchor=\"\(anchor.rawValue)\" class=\"\(style)\">\(Self.escaped(text))</text>"
        )
    }

    mutating func line(from start: (x: Double, y: Double), to end: (x: Double, y: Double), style: String) {
        elements.append(
            "<line x1=\"\(Self.number(start.x))\" y1=\"\(Self.number(start.y))\" x2=\"\(Self.number(end.x))\" "
                + "y2=\"\(Self.number(end.y))\" class=\"\(style)\"/>"
        )
    }

    mutating func bar(x: Double, y: Double, width: Double, height: Double, style: String) {
        elements.append(
            "<rect x=\"\(Self.number(x))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
                + "height=\"\(Self.number(height))\" class=\"\(style)\"/>"
        )
    }

    mutating func path(through points: [(x: Double, y: Double)], style: String) {
        let list = points.map { "\(Self.number($0.x)),\(Self.number($0.y))" }.joined(separator: " ")
        elements.append("<polyline points=\"\(list)\" class=\"\(style)\"/>")
    }

    mutating func dot(x: Double, y: Double, style: String) {
        elements.append(
            "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"3.5\" class=\"\(style)\"/>"
        )
    }

    /// The whole file.
    func rendered(height: Double) -> String {
        let size = "\(Self.number(width)) \(Self.number(height))"
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size)" \
            width="\(Self.number(width))" height="\(Self.number(height))" role="img">
            <title>\(Self.escaped(title))</title>
            <style>\(ChartStyle.sheet)</style>
            <rect width="100%" height="100%" rx="6" class="ground"/>
            \(elements.joined(separator: "\n"))
            </svg>

            """
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(format: "%.1f", value)
    }
}

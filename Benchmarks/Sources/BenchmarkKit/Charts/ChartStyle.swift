import Foundation

/// Colours and fonts of charts. The ground is drawn as well, so that text is readable on a page of any colour.
enum ChartStyle {
    static let textSize = 13.0
    /// How many lines can be told apart by colour; ours has one more of its own.
    private static let colourCount = 7

    /// The style of a peer's line; dashed when the colours begin again.
    static func line(_ index: Int) -> String { colour(index) + (index < colourCount ? "" : " dashed") }

    /// The style of a peer's dots and label.
    static func label(_ index: Int) -> String { colour(index) + "-fill" }

    private static func colour(_ index: Int) -> String { "s\(index % colourCount)" }

    static let sheet: String = {
        let light = palette(["#7a3fb0", "#2f7d4f", "#b3261e", "#00768a", "#8a6100", "#c2368f", "#5c6670"])
        let dark = palette(["#c39bf0", "#6cc493", "#ff8a80", "#5cc8dc", "#e0b040", "#f58ccb", "#a9b4be"])
        return """
            text { font: \(Int(textSize))px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
            .title { font-size: 17px; font-weight: 600; } .group { font-weight: 600; }
            .small { font-size: 12px; }
            .text, .title, .group { fill: #1f2328; } .small { fill: #59636e; }
            .ground { fill: #ffffff; }
            .grid { stroke: #e3e7eb; } .base { stroke: #1f2328; stroke-width: 1.5; }
            .ours { fill: #0b62c9; } .peer { fill: #8c959f; } .faster { fill: #bc4c00; }
            .whisker { stroke: #1f2328; stroke-width: 1.2; }
            polyline { fill: none; stroke-width: 1.8; } .own { stroke: #0b62c9; stroke-width: 3; }
            .own-fill { fill: #0b62c9; } .dashed { stroke-dasharray: 7 4; } line.leader { stroke-width: 1; }
            \(light)
            @media (prefers-color-scheme: dark) {
            .text, .title, .group { fill: #e6edf3; } .small { fill: #9da7b1; }
            .ground { fill: #0d1117; }
            .grid { stroke: #2b323b; } .base, .whisker { stroke: #e6edf3; }
            .ours, .own-fill { fill: #58a6ff; } .own { stroke: #58a6ff; }
            .peer { fill: #6e7781; } .faster { fill: #f0883e; }
            \(dark)
            }
            """
    }()

    private static func palette(_ colours: [String]) -> String {
        colours.enumerated().map { ".s\($0) { stroke: \($1); } .s\($0)-fill { fill: \($1); }" }
            .joined(separator: "\n")
    }
}

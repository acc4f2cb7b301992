import Foundation

/// Shows measurements as a table: Markdown, and readable as it is.
struct ResultTable: CustomStringConvertible {
    let work: String
    let measurements: [Measurement]

    var description: String {
        let rows = measurements.map { measurement in
            [
                measurement.name,
                Self.text(measurement.median),
                "\(Self.text(measurement.fastest)) – \(Self.text(measurement.slowest))",
                String(format: "%.2f", measurement.median / measurements[0].median),
            ]
        }
        let header = [work, "median", "fastest – slowest", "ratio"]
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        return ([header, rule] + rows).map { Self.line($0, widths) }.joined(separator: "\n")
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(cells, widths).enumerated().map { column, pair in
            let (cell, width) = pair
            let space = String(repeating: " ", count: width - cell.count)
            return column == 0 ? cell + space : space + cell
        }
        return "| \(padded.joined(separator: " | ")) |"
    }

    private static func text(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        switch seconds {
        case ..<1e-6: return String(format: "%.1f ns", seconds * 1e9)
        case ..<1e-3: return String(format: "%.2f µs", seconds * 1e6)
        default: return String(format: "%.2f ms", seconds * 1e3)
        }
    }
}

/// A figure that is no time: a hit ratio, a size, a rate.
package struct ValueFigures: Codable, Equatable, Sendable {
    package let summary: Summary
    package let unit: String
    package let better: Direction

    package init(_ samples: [Double], unit: String, better: Direction) {
        summary = Summary(samples)
        self.unit = unit
        self.better = better
    }
}

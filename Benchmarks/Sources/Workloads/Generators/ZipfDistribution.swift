import Foundation

/// Ranks from 0, where rank *r* is asked for in proportion to 1 / (*r* + 1)^exponent.
///
/// Exact: a rank is looked up in the table of cumulated shares.
public struct ZipfDistribution: Sendable {
    private let cumulated: [Double]

    /// - Parameters:
    ///   - count: how many ranks there are; at least 1.
    ///   - exponent: how skewed it is; 0 is uniform.
    public init(count: Int, exponent: Double) {
        precondition(count > 0, "a distribution needs at least one rank")
        var sum = 0.0
        cumulated = (0..<count).map { rank in
            sum += pow(Double(rank + 1), -exponent)
            return sum
        }
    }

    /// - Complexity: O(log *n*) in the number of ranks.
    public func next(using generator: inout some RandomNumberGenerator) -> Int {
        let target = Double.random(in: 0..<(cumulated.last ?? 1), using: &generator)
        var lower = 0
        var upper = cumulated.count - 1
        while lower < upper {
            let middle = (lower + upper) / 2
            if cumulated[middle] > target { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

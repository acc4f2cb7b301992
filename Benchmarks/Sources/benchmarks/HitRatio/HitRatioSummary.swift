import BenchmarkKit
import Workloads

/// The share of the possible hits that each subject had, over all cells.
struct HitRatioSummary {
    private static let meanBar = 0.87
    private static let minimumBar = 0.60

    private var shares: [String: [Double]] = [:]

    mutating func add(_ share: Double, of subject: String) {
        shares[subject, default: []].append(share)
    }

    func record(cellsInAll: Int, in context: Context) {
        let cells = shares[HitRatioSuite.ours]?.count ?? 0
        let means = shares.mapValues { $0.reduce(0, +) / Double($0.count) }
        // Ours first, then the best.
        let subjects = shares.keys.sorted { left, right in
            let (leftIsOurs, rightIsOurs) = (left == HitRatioSuite.ours, right == HitRatioSuite.ours)
            return leftIsOurs == rightIsOurs ? means[left, default: 0] > means[right, default: 0] : leftIsOurs
        }

        func record(_ work: String, bar: Double, figure: (String) -> Double) {
            for (subject, figure) in subjects.map({ ($0, figure($0)) }) + [("bar", bar)] {
                context.value(
                    work: work,
                    parameters: ["cells": "\(cells) of \(cellsInAll)"],
                    subject: subject,
                    isOurs: subject == HitRatioSuite.ours,
                    unit: "of optimum",
                    better: .higher,
                    samples: [figure]
                )
            }
        }
        record("mean of hits / Belady hits", bar: Self.meanBar) { means[$0, default: 0] }
        record("minimum of hits / Belady hits", bar: Self.minimumBar) { shares[$0]?.min() ?? 0 }
    }
}

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
        let parameters = ["cells": "\(cells) of \(cellsInAll)"]
        let rows = shares.map { subject, shares in
            (subject: subject, mean: shares.reduce(0, +) / Double(shares.count), minimum: shares.min() ?? 0)
        }
        // Ours first, then the best.
        .sorted { left, right in
            let (leftIsOurs, rightIsOurs) = (
                left.subject == HitRatioSuite.ours, right.subject == HitRatioSuite.ours
            )
            return leftIsOurs == rightIsOurs ? left.mean > right.mean : leftIsOurs
        }

        let mean = "mean of hits / Belady hits"
        for row in rows { record(mean, parameters, row.subject, row.mean, context) }
        record(mean, parameters, "bar", Self.meanBar, context)

        let minimum = "minimum of hits / Belady hits"
        for row in rows { record(minimum, parameters, row.subject, row.minimum, context) }
        record(minimum, parameters, "bar", Self.minimumBar, context)
    }

    private func record(
        _ work: String,
        _ parameters: [String: String],
        _ subject: String,
        _ figure: Double,
        _ context: Context
    ) {
        context.value(
            work: work,
            parameters: parameters,
            subject: subject,
            isOurs: subject == HitRatioSuite.ours,
            unit: "of optimum",
            better: .higher,
            samples: [figure]
        )
    }
}

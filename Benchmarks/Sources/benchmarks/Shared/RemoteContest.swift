import BenchmarkKit
import Foundation
import SharedCache
import TypedCache

/// One way to have values of 1 KiB on a server fetched or saved, by a number of tasks.
struct RemoteContestant {
    let name: String
    var isOurs = false
    /// Works for some seconds.
    let measure: (_ seconds: Double) throws -> RemoteWork
}

/// Fetches or saves by all ways in turns, and their ratios.
struct RemoteContest {
    let context: Context
    /// As a verb with its object.
    let work: String
    let tasks: Int
    /// Pairs of names: the first one's speed as a multiple of the second one's, or the first one's processor time.
    let speedRatios: [(ours: String, other: String)]
    let timeRatios: [(ours: String, other: String)]

    private var parameters: [String: String] { ["tasks": "\(tasks)"] }

    func run(_ contestants: [RemoteContestant]) throws {
        let seconds = context.extent == .once ? 0.01 : context.isQuick ? 0.15 : 0.5
        var works = [[RemoteWork]](repeating: [], count: contestants.count)
        context.progress("\(work), \(tasks)")
        for contestant in contestants { _ = try contestant.measure(seconds / 4) }
        for round in 0..<(context.extent == .once ? 1 : context.isQuick ? 3 : 5) {
            for turn in contestants.indices {
                let index = (round + turn) % contestants.count
                works[index].append(try contestants[index].measure(seconds))
            }
        }
        for (contestant, works) in zip(contestants, works) {
            record("\(work)", contestant, unit: "operations/s", better: .higher, samples: works.map(\.perSecond))
        }
        for (contestant, works) in zip(contestants, works) {
            record(
                "\(work), processor time of the client",
                contestant,
                unit: "µs",
                better: .lower,
                samples: works.map(\.processorTime)
            )
        }
        let byName = Dictionary(uniqueKeysWithValues: zip(contestants.map(\.name), works))
        for (ours, other) in speedRatios {
            try record(ours, other, work: "\(work), speed as a multiple of", better: .higher, works: byName) {
                $0.perSecond / $1.perSecond
            }
        }
        for (ours, other) in timeRatios {
            try record(ours, other, work: "\(work), processor time as a multiple of", better: .lower, works: byName)
            {
                $0.processorTime / $1.processorTime
            }
        }
    }

    private func record(
        _ work: String,
        _ contestant: RemoteContestant,
        unit: String,
        better: Direction,
        samples: [Double]
    ) {
        context.value(
            work: work,
            parameters: parameters,
            subject: contestant.name,
            isOurs: contestant.isOurs,
            unit: unit,
            better: better,
            samples: samples
        )
    }

    private func record(
        _ ours: String,
        _ other: String,
        work: String,
        better: Direction,
        works: [String: [RemoteWork]],
        _ ratio: (RemoteWork, RemoteWork) -> Double
    ) throws {
        // A peer may be missing.
        guard let mine = works[ours], let its = works[other] else { return }
        context.value(
            work: "\(work) \(other)",
            parameters: parameters,
            subject: ours,
            isOurs: true,
            unit: "×",
            better: better,
            samples: zip(mine, its).map(ratio)
        )
    }
}

import Foundation
import Sealing
import TestSupport
import Testing

@testable import ArchiveStore

/// The stores on a simulated volume, judged by an oracle that knows only their promises.
///
/// `TYPED_CACHE_SEEDS` asks for more seeds, and so does a long run. A failure prints the shortest history that breaks the
/// same law.
@Suite struct SimulatedStoreTests {
    /// A law that holds.
    struct Law: Sendable, CustomStringConvertible {
        let layout: VolumeHistory.Layout
        let attack: VolumeHistory.Attack
        var durabilities: [StoreSettings.Durability] = [.process]
        var order: PowerFailure.Order?

        var description: String {
            let order = order.map { ", \($0)" } ?? ""
            return
                "\(layout.rawValue) .\(durabilities.map { "\($0)" }.joined(separator: " .")) \(attack.rawValue)\(order)"
        }

        func history(_ seed: Int) -> VolumeHistory {
            VolumeHistory(seed: seed, attack, layout: layout, durabilities: durabilities, order: order)
        }

        /// The power fails so often after each history.
        var states: Range<Int> { 0..<(isLongRun ? 20 : 2) }
    }

    private static let laws: [Law] =
        [.kills, .failures, .fullVolume].flatMap { attack in
            VolumeHistory.Layout.allCases.map {
                Law(layout: $0, attack: attack)
            }
        } + [
            Law(layout: .packed, attack: .limit),
            Law(layout: .files, attack: .limit),
            Law(layout: .packed, attack: .stops),
            Law(layout: .files, attack: .stops),
            Law(layout: .packed, attack: .beginnings),
            Law(layout: .files, attack: .beginnings),
            Law(layout: .packed, attack: .emptied),
            Law(layout: .files, attack: .emptied),
            Law(layout: .packed, attack: .marker),
            Law(layout: .files, attack: .marker),
            Law(layout: .files, attack: .power),
            Law(layout: .files, attack: .power, durabilities: [.power]),
            Law(layout: .files, attack: .power, durabilities: [.power, .process]),
            Law(layout: .packed, attack: .earlyPower, order: .blocks),
            Law(layout: .packed, attack: .power),
            Law(layout: .packed, attack: .power, durabilities: [.power]),
            Law(layout: .packed, attack: .power, durabilities: [.power], order: .last),
            Law(layout: .packed, attack: .power, durabilities: [.power], order: .prefix),
            Law(layout: .packedBehind, attack: .power, durabilities: [.power], order: .prefix),
            Law(layout: .packed, attack: .power, order: .last),
            Law(layout: .packed, attack: .power, durabilities: [.power], order: .blocks),
            Law(layout: .packed, attack: .power, durabilities: [.power, .process]),
        ] + sealedLaws

    /// Nothing of it changes where the files are encrypted.
    private static var sealedLaws: [Law] {
        guard CipherAlgorithm.isAvailable else { return [] }
        return [VolumeHistory.Attack.limit, .stops, .beginnings, .emptied, .marker, .power].map {
            Law(layout: .sealedPacked, attack: $0)
        }
            + [VolumeHistory.Attack.limit, .stops, .beginnings, .emptied, .marker, .power].map {
                Law(layout: .sealedFiles, attack: $0)
            } + [
                Law(layout: .sealedFiles, attack: .power, durabilities: [.power]),
                Law(layout: .sealedFiles, attack: .power, durabilities: [.power, .process]),
                Law(layout: .sealedPacked, attack: .earlyPower, order: .blocks),
                Law(layout: .sealedPacked, attack: .power, durabilities: [.power]),
                Law(layout: .sealedPacked, attack: .power, durabilities: [.power], order: .blocks),
                Law(layout: .sealedPacked, attack: .power, durabilities: [.power, .process]),
            ]
    }

    @Test(arguments: laws) func theLawHolds(_ law: Law) {
        for seed in isLongRun ? seeds(0..<12) : seeds(0..<40) {
            let history = law.history(seed)
            let report = VolumeRun.report(history, states: law.states)
            #expect(report.readingCount > 0)
            if report.laws.isEmpty { continue }
            Issue.record("\(VolumeShrinker.describe(history, states: law.states, report))")
            return
        }
    }

    // MARK: The simulation itself

    @Test(arguments: VolumeHistory.Attack.allCases, VolumeHistory.Layout.allCases)
    func aSeedGivesTheSameCallsEachTime(_ attack: VolumeHistory.Attack, _ layout: VolumeHistory.Layout) {
        for seed in seeds(0..<3) {
            let history = VolumeHistory(seed: seed, attack, layout: layout, durabilities: [.process, .power])
            let reports = (0..<2).map { _ in VolumeRun.report(history, states: 0..<2, traces: true) }
            #expect(reports[0].callCount > 0)
            #expect(reports[0].violations == reports[1].violations)
            guard reports[0].digest != reports[1].digest else { continue }
            let place = zip(reports[0].trace, reports[1].trace).enumerated().first { $1.0 != $1.1 }
            Issue.record("\(history)\n\(place.map { "call \($0): \($1)" } ?? "one has more calls")")
            return
        }
    }

    @Test func aFailingHistoryIsShrunk() throws {
        var history = Law(layout: .packed, attack: .power).history(1)
        history.isJudgedAsDurable = true
        let states = 0..<20
        let report = VolumeRun.report(history, states: states)
        try #require(!report.laws.isEmpty)
        let (short, again) = VolumeShrinker.shrink(history, states, breaking: report.laws)
        #expect(!again.laws.isDisjoint(with: report.laws))
        #expect(short.steps.count < history.steps.count)
        // None of its steps can be left out.
        for place in short.steps.indices {
            var shorter = short
            shorter.steps.remove(at: place)
            let laws = VolumeRun.report(shorter, states: states).laws
            #expect(laws.isDisjoint(with: report.laws), "\(short.steps[place])")
        }
    }
}

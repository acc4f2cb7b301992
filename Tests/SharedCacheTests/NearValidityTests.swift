import TestSupport
import Testing

@testable import ArchiveStore
@testable import SharedCache

/// When memory may answer, beside a model that keeps all that happened.
@Suite struct NearValidityTests {
    private typealias Instant = ContinuousClock.Instant

    /// An entry that was kept after one `take` may be used after another one only if it was not changed between them, if
    /// no change could be missed between them, and if the last heartbeat is not too old.
    @Test(arguments: seeds(0..<500))
    func entriesAreUsedOnlyWhileNothingCanHaveBeenMissed(seed: Int) {
        var random = SeededGenerator(seed: seed)
        let window = Duration.milliseconds(100)
        var validity = NearValidity(.heard(window: window))
        let start = Instant.now
        var now = start
        var heartbeat: Instant?
        // The keys that may be near: each was put there when nothing had been missed.
        var near: Set<Int> = []
        var spoilt: Set<Int> = []
        var followed: UInt64?
        for step in 0..<300 {
            now += .milliseconds(Int.random(in: 0...40, using: &random))
            let key = Int.random(in: 0..<4, using: &random)
            // A hit asks nothing while the revision is as it was: then there must be nothing to ask for.
            if let followed, validity.revision == followed, validity.isVerified(at: now) {
                #expect(near.isDisjoint(with: spoilt), "seed \(seed), step \(step)")
            }
            switch Int.random(in: 0..<13, using: &random) {
            case 0, 1, 2:
                validity.change(KeyDigest(high: 0, low: UInt64(key)))
                spoilt.insert(key)
            case 12:
                validity.doubt(KeyDigest(high: 0, low: UInt64(key)))
                spoilt.insert(key)
            case 3:
                validity.changeAll()
                spoilt = Set(0..<4)
            case 4:
                validity.lose()
                heartbeat = nil
                spoilt = Set(0..<4)
            case 5, 6, 7:
                let sent = now - .milliseconds(Int.random(in: 0...60, using: &random))
                validity.verify(since: sent)
                heartbeat = sent
            default:
                let isVerified = heartbeat.map { now < $0 + window } ?? false
                #expect(validity.isVerified(at: now) == isVerified, "seed \(seed), step \(step)")
                switch validity.take(at: now) {
                case .everything, .doubts: near = []
                case .keysAndDoubts(let changed, let doubtful):
                    for key in changed + doubtful { near.remove(Int(key.low)) }
                case .keys(let keys): for key in keys { near.remove(Int(key.low)) }
                }
                #expect(near.isDisjoint(with: spoilt), "seed \(seed), step \(step)")
                #expect(isVerified || near.isEmpty, "seed \(seed), step \(step)")
                // Read now, after the look: kept near only as long as the next look says.
                near.insert(key)
                // Others may change it unheard while nothing is verified.
                spoilt = isVerified ? [] : Set(0..<4)
                followed = isVerified ? validity.revision : nil
            }
        }
    }

    @Test func aFloodOfChangesTakesNoMoreRoom() {
        var validity = NearValidity(.heard(window: .seconds(1)))
        validity.verify(since: .now)
        _ = validity.take(at: .now)
        for number in 0...NearValidity.mostKeys { validity.change(KeyDigest(high: 1, low: UInt64(number))) }
        guard case .doubts = validity.take(at: .now) else {
            Issue.record("10,001 keys are held")
            return
        }
        guard case .keys(let keys) = validity.take(at: .now), keys.isEmpty else {
            Issue.record("told twice")
            return
        }
    }
}

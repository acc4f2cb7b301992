import TestSupport
import Testing

@testable import Eviction

@Suite struct GhostTests {
    @Test(arguments: seeds(1..<21)) func ghostsAreTheLatestOnes(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var ghosts = Ghosts()
        // The hash and the time of each that was added, the oldest first; `nil` where it was taken.
        var model: [(hash: UInt64, time: UInt32)?] = []
        var limit = 8
        for time in 0..<UInt32(2_000) {
            if time % 200 == 0 { limit = Int.random(in: 1...50, using: &random) }
            let hash = UInt64.random(in: 0..<60, using: &random) << 20
            let known = model.lastIndex { $0?.hash == hash }
            if Bool.random(using: &random) {
                #expect(ghosts.take(hash)?.usedAt == known.flatMap { model[$0]?.time }, "seed \(seed)")
                if let known { model[known] = nil as (UInt64, UInt32)? }
            } else {
                if let known { model[known] = nil as (UInt64, UInt32)? }
                ghosts.add(Ghost(hash: hash, usedAt: time, leftAt: time, origin: .small), limit: limit)
                model.append((hash, time))
                model.removeFirst(max(0, model.count - limit))
            }
            #expect(ghosts.isSound, "seed \(seed)")
        }
    }
}

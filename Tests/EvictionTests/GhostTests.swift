import TestSupport
import Testing

@testable import Eviction

@Suite struct GhostTests {
    private static func ghost(_ hash: UInt64, _ time: UInt32) -> Ghost {
        Ghost(hash: hash, usedAt: time, state: EntryState(.small, UseHistory()))
    }

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
            let taken = ghosts.take(hash)
            #expect(taken?.ghost.usedAt == known.flatMap { model[$0]?.time }, "seed \(seed)")
            #expect(taken?.age == known.map { model.count - $0 }, "seed \(seed)")
            if let known { model[known] = nil as (UInt64, UInt32)? }
            if Bool.random(using: &random) {
                ghosts.add(Self.ghost(hash, time), limit: limit)
                model.append((hash, time))
                model.removeFirst(max(0, model.count - limit))
            }
            #expect(ghosts.isSound, "seed \(seed)")
        }
    }

    @Test(arguments: [Queue.small, .main]) func statesKeepTheirQueueAndHistory(queue: Queue) {
        for (uses, span) in [(0, 0), (1, 7), (31, 1 << 26 - 1)] as [(UInt8, UInt32)] {
            var state = EntryState(.small, UseHistory())
            state.history.add(uses: uses, after: span)
            state.queue = queue
            #expect(state.queue == queue)
            #expect(state.history.uses == uses && state.history.span == span)
        }
    }
}

import ArchiveStore
import Synchronization

/// The idle deadlines that reading has moved in one cache's memory, and that the disk has yet to follow.
final class DeadlineMoves: Sendable {
    private struct Move: Sendable {
        var timing: EntryTiming
        /// How many moves of it are under way.
        var count = 0
    }

    /// How many moves are under way in this process: most reads find none.
    private static let count = Atomic<Int>(0)
    static var areUnderWay: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

    private let moves = RankedMutex<[EntryKey: Move]>([:], rank: CacheLocks.moves)

    var isEmpty: Bool { moves.withLock { $0.isEmpty } }

    func begin(_ key: EntryKey, _ timing: EntryTiming) {
        moves.withLock { moves in
            moves[key, default: Move(timing: timing)].timing = timing
            moves[key]?.count += 1
        }
        Self.count.add(1, ordering: .sequentiallyConsistent)
    }

    func end(_ key: EntryKey) {
        moves.withLock { moves in
            moves[key]?.count -= 1
            if moves[key]?.count == 0 { moves[key] = nil }
        }
        Self.count.subtract(1, ordering: .sequentiallyConsistent)
    }

    func timing(_ key: EntryKey) -> EntryTiming? { moves.withLock { $0[key]?.timing } }
    var timings: [EntryKey: EntryTiming] { moves.withLock { $0.mapValues(\.timing) } }
}

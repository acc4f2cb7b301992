import CStack

/// How deep objects may nest: a graph that could be archived can be unarchived, given as much stack.
///
/// Each level takes stack: a few KiB, and the stack that the objects' own coding takes. Threads have anything from
/// 128 KiB to 8 MiB.
package struct NestingLimit {
    /// For archiving, and by default for unarchiving.
    package static let levels = 1_000
    /// Levels allowed on top of that for unarchiving, where values without parts of their own, such as dates, count
    /// as levels too.
    package static let leafLevels = 16

    /// How many levels are entered.
    package private(set) var depth = 0
    private let levels: Int

    package init(levels: Int) { self.levels = levels }

    /// Enters one more level.
    ///
    /// - Throws: `.limitExceeded`; then the level is not entered.
    package mutating func enter() throws(ArchiveError) {
        if depth >= unchecked_levels || depth >= levels { try check() }
        depth += 1
    }

    package mutating func leave() { depth -= 1 }

    /// Leaves all levels above `depth`, for code that was left without calling ``leave()``.
    package mutating func leave(downTo depth: Int) { self.depth = depth }

    private func check() throws(ArchiveError) {
        guard depth < levels else {
            throw ArchiveError(.limitExceeded, "objects nest more than \(levels) deep")
        }
        try Self.checkStack(at: depth)
    }

    /// Checks that this thread's stack has room for another level, where the levels are counted elsewhere.
    ///
    /// - Parameter depth: how many levels are entered.
    /// - Throws: `.limitExceeded`.
    package static func checkStack(at depth: Int) throws(ArchiveError) {
        if depth >= unchecked_levels, stack_is_low() {
            throw ArchiveError(.limitExceeded, "objects nest deeper than this thread's stack allows")
        }
    }
}

import CStack

/// How deep objects may nest: a graph that could be archived can be unarchived, given as much stack.
package struct NestingLimit {
    /// For archiving, and by default for unarchiving.
    package static let levels = 1_000
    /// Levels allowed on top of that for unarchiving, where values without parts of their own, such as dates, count
    /// as levels too.
    package static let leafLevels = 16

    /// How many levels are entered.
    package private(set) var depth = 0
    private let levels: Int
    private var stack: StackGuard?

    package init(levels: Int) { self.levels = levels }

    /// Enters one more level.
    ///
    /// - Throws: `.limitExceeded`; then the level is not entered.
    package mutating func enter() throws(ArchiveError) {
        if depth >= StackGuard.freeLevels || depth >= levels { try check() }
        depth += 1
    }

    package mutating func leave() { depth -= 1 }

    /// Leaves all levels above `depth`, for code that was left without calling ``leave()``.
    package mutating func leave(downTo depth: Int) { self.depth = depth }

    private mutating func check() throws(ArchiveError) {
        guard depth < levels else {
            throw ArchiveError(.limitExceeded, "objects nest more than \(levels) deep")
        }
        let guarding = stack ?? StackGuard()
        stack = guarding
        if guarding.isLow {
            throw ArchiveError(.limitExceeded, "objects nest deeper than this thread's stack allows")
        }
    }
}

/// Notices when the current thread's stack runs out, before it does.
///
/// Objects nest as deep as an archive says, and each level takes stack: a few KiB, and the stack that the objects' own
/// coding takes. Threads have anything from 128 KiB to 8 MiB.
///
/// Why it is safe: addresses are compared, never followed.
private struct StackGuard {
    /// Below this many levels the stack is not checked: every thread has room for them.
    static let freeLevels = 4
    /// The bytes of stack that the last level, the runtime's look-ups of types and the making of an error may take.
    private static let reserve = 128 << 10

    /// The lowest address that may be reached.
    private let limit: Int

    /// Makes a guard for the current thread. The system is asked once per thread.
    init() {
        var lowest = 0
        var size = 0
        current_stack(&lowest, &size)
        limit = lowest + min(Self.reserve, size / 2)
    }

    /// Whether too little is left for another level.
    var isLow: Bool { current_stack_address() < limit }
}

import CStack

/// Notices when the current thread's stack runs out, before it does.
///
/// Objects nest as deep as an archive says, and each level takes stack: 1.1 KiB in a release build, 6 KiB in a
/// debug one, and the stack that the objects' own coding takes. Threads have anything from 128 KiB to 8 MiB.
///
/// Why it is safe: addresses are compared, never followed.
struct StackGuard {
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

/// How deep objects may nest: a graph that could be archived can be unarchived, given as much stack.
struct NestingLimit {
    /// For archiving, and by default for unarchiving.
    static let levels = 1_000
    /// Levels allowed on top of that for unarchiving, where values without parts of their own, such as dates, count
    /// as levels too.
    static let leafLevels = 16

    private var stack: StackGuard?

    /// Checks that one more level is allowed.
    ///
    /// - Throws: `.limitExceeded`.
    mutating func check(_ depth: Int, below levels: Int) throws(ArchiveError) {
        if depth < StackGuard.freeLevels, depth < levels { return }
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

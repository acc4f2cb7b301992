/// Whether callers read their answers by themselves for a moment: a server on the same machine answers before a thread
/// that sleeps would have been woken.
struct CallerReading {
    /// How long a caller reads before it leaves its answer to the thread of all connections; zero if none reads.
    let patience: Duration

    private static let fewestQuickAnswers = 2
    private static let mostQuickAnswers = 1_024

    /// Whether callers read. Then the thread does not wait for input while no answer is due.
    private(set) var isOn = false
    /// How many answers in a row have come in time, as the thread or callers have seen it.
    private var quickCount = 0
    /// After how many of them callers begin to read. Twice as many with each that did not come in time.
    private var neededCount = fewestQuickAnswers

    init(patience: Duration) { self.patience = patience }

    /// The thread has read the answer to a call that was alone.
    mutating func didWait(_ time: Duration) {
        quickCount = time < patience ? quickCount + 1 : 0
        // Elsewhere the system may not tell the thread of the connection's end without telling it of input.
        #if os(Linux)
            if quickCount >= neededCount { (isOn, quickCount) = (true, 0) }
        #endif
    }

    /// A caller has read its answer.
    mutating func succeed() {
        quickCount += 1
        if quickCount >= Self.mostQuickAnswers { neededCount = Self.fewestQuickAnswers }
    }

    /// A caller has read in vain.
    mutating func fail() {
        isOn = false
        quickCount = 0
        neededCount = min(2 * neededCount, Self.mostQuickAnswers)
    }
}

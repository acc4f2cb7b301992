/// Whether callers read their answers by themselves for a moment: a server on the same machine answers before a thread
/// that sleeps would have been woken.
struct CallerReading {
    /// How long a caller reads before it leaves its answer to the thread of all connections; zero if none reads.
    let patience: Duration

    private static let fewestQuickAnswers = 2
    private static let mostQuickAnswers = 1_024
    /// A caller that reads in vain after so many that did not costs less than they have gained.
    private static let worthwhileAnswers = 32

    /// Whether callers read. Then the thread does not wait for input while no answer is due.
    private(set) var isOn = false
    /// How many answers in a row have come in time, as the thread or callers have seen it.
    private var quickCount = 0
    /// After how many of them callers begin to read. Twice as many each time that they were too few.
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
    mutating func succeed() { quickCount += 1 }

    /// A caller has read in vain.
    mutating func fail() {
        let wasWorthwhile = quickCount >= Self.worthwhileAnswers
        neededCount = wasWorthwhile ? Self.fewestQuickAnswers : min(2 * neededCount, Self.mostQuickAnswers)
        (isOn, quickCount) = (false, 0)
    }
}

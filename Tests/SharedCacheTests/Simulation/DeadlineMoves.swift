/// The deadlines that versions were saved with or moved to, and which of them may be in force.
struct DeadlineMoves {
    private struct Move {
        let deadline: Moment
        let begin: Moment
        /// `nil` while it is under way, or for good, if its process died.
        var end: Moment?
        var isDone = false
    }

    private var moves: [Int: (version: UInt64, move: Move)] = [:]
    private var movesOf: [UInt64: [Int]] = [:]
    private var lastPromotion: Moment = .min

    mutating func begin(_ version: UInt64, to deadline: Moment, at time: Moment) -> Int {
        let number = moves.count
        moves[number] = (version, Move(deadline: deadline, begin: time))
        movesOf[version, default: []].append(number)
        return number
    }

    mutating func end(_ number: Int, isDone: Bool, at time: Moment) {
        moves[number]?.move.end = time
        moves[number]?.move.isDone = isDone
    }

    /// A promoted replica may lack moves.
    mutating func promoted(at time: Moment) { lastPromotion = time }

    /// The latest deadline that a process may see for a version, if it has heard all news up to a time; `nil` for never.
    ///
    /// A deadline is not in force any more once another move is done that began after its own had ended: one that failed
    /// changes no other end than the one that it has seen.
    func latest(of version: UInt64, saved: Moment?, at time: Moment) -> Moment? {
        let known = (movesOf[version] ?? []).compactMap { moves[$0]?.move }
        let certain = known.filter { $0.isDone && $0.begin > lastPromotion && ($0.end ?? .max) <= time }
        let latestBegin = certain.map(\.begin).max() ?? .min
        var deadlines = known.filter { ($0.end ?? .max) >= latestBegin }.map(\.deadline)
        if certain.isEmpty {
            guard let saved else { return nil }
            deadlines.append(saved)
        }
        return deadlines.max()
    }
}

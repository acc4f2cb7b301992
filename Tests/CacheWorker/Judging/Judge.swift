/// Judges what was seen of one key by what was done to it.
///
/// An operation took effect at one moment between its begin and its end, and nothing else is known about when. So a
/// read in [a, b] may have seen what a write left if the write did not begin after b, and if no other write began
/// after its end and had taken effect before a. A write has taken effect by its end if it was acknowledged, and in
/// any case by the end of the first read that saw its value; one that was cut off and never seen may not have
/// happened at all.
struct Judge {
    private let byValue: [ValueIdentity: Write]
    /// By when writes had taken effect, in order, with the latest begin among those up to there.
    private let effects: [(by: MonotonicTime, begin: MonotonicTime, write: Write)]
    private let saves: Candidates
    private let removals: Candidates

    init(writes: [Write], reads: [Read]) {
        var firstSeen: [ValueIdentity: MonotonicTime] = [:]
        for case (.value(let value), let end) in reads.map({ ($0.sight, $0.end) }) {
            firstSeen[value] = min(end, firstSeen[value] ?? end)
        }
        byValue = Dictionary(
            writes.compactMap { write in write.value.map { ($0, write) } },
            uniquingKeysWith: { first, _ in first }
        )
        var effects: [(by: MonotonicTime, begin: MonotonicTime, write: Write)] = []
        for write in writes {
            let seen = write.value.flatMap { firstSeen[$0] }
            let known = [write.isAcknowledged ? write.end : nil, seen].compactMap { $0 }.min()
            if let known { effects.append((known, write.begin, write)) }
        }
        effects.sort { $0.by < $1.by }
        for index in effects.indices.dropFirst() where effects[index - 1].begin > effects[index].begin {
            effects[index].begin = effects[index - 1].begin
            effects[index].write = effects[index - 1].write
        }
        self.effects = effects
        saves = Candidates(writes.filter { $0.value != nil })
        removals = Candidates(writes.filter { $0.value == nil })
    }

    /// What is wrong with a read; `nil` if nothing is.
    func violation(of read: Read, wasBegun: (ValueIdentity) -> Bool) -> Violation? {
        let superseding = lastEffect(before: read.begin)
        let latest = superseding.map { "; \($0.source) began later and had ended before" } ?? ""
        func violation(_ law: Violation.Law, _ saw: String) -> Violation {
            let times = "[\(read.begin.nanoseconds), \(read.end.nanoseconds)]"
            return Violation(law: law, evidence: "\(read.source), of \(read.key) in \(times), \(saw)\(latest)")
        }
        switch read.sight {
        case .value(let value):
            guard let write = byValue[value] else {
                if wasBegun(value) { return violation(.phantom, "gave \(value) of an earlier time") }
                return violation(.neverWritten, "gave \(value), which was never saved for it")
            }
            if write.begin > read.end { return violation(.phantom, "gave \(value) before its save began") }
            if let superseding, superseding.begin > write.end { return violation(.phantom, "gave \(value)") }
        case .absent:
            if !removals.contain(beginningBy: read.end, endingFrom: superseding?.begin ?? .start) {
                return violation(.lost, "found nothing")
            }
        case .present:
            if !saves.contain(beginningBy: read.end, endingFrom: superseding?.begin ?? .start) {
                return violation(.phantom, "found something")
            }
        }
        return nil
    }

    /// Of the writes that had taken effect before `time`, the one that began last.
    private func lastEffect(before time: MonotonicTime) -> Write? {
        let count = effects.partitioningIndex { $0.by >= time }
        return count == 0 ? nil : effects[count - 1].write
    }

    /// Writes in the order of their begin, with the latest end among those up to there.
    private struct Candidates {
        private var begins: [MonotonicTime] = []
        private var latestEnds: [MonotonicTime] = []

        init(_ writes: [Write]) {
            for write in writes.sorted(by: { $0.begin < $1.begin }) {
                begins.append(write.begin)
                latestEnds.append(max(write.end, latestEnds.last ?? .start))
            }
        }

        func contain(beginningBy last: MonotonicTime, endingFrom first: MonotonicTime) -> Bool {
            let count = begins.partitioningIndex { $0 > last }
            return count > 0 && latestEnds[count - 1] >= first
        }
    }
}

extension Array {
    /// The first index whose element, like all that follow, is `true` for `belongsBehind`.
    fileprivate func partitioningIndex(_ belongsBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension History {
    /// All that is wrong.
    ///
    /// - Parameter wasBegun: whether a value was saved for a key at an earlier time.
    func judged(wasBegun: (ValueIdentity, String) -> Bool = { _, _ in false }) -> [Violation] {
        var found = violations
        let readsByKey = Dictionary(grouping: reads, by: \.key)
        for (key, reads) in readsByKey.sorted(by: { $0.key < $1.key }) {
            let judge = Judge(writes: writes[key] ?? [.initial(nil)], reads: reads)
            for read in reads {
                if let violation = judge.violation(of: read, wasBegun: { wasBegun($0, key) }) {
                    found.append(violation)
                }
            }
        }
        return found
    }
}

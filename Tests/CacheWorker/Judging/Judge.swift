/// Judges the reads of one key by the writes to it.
///
/// An operation takes effect at one moment between its begin and its end, and nothing more is known of that moment. So
/// a read in [a, b] may see the value of a write if the write did not begin after b, and if no other write both began
/// after its end and had taken effect before a. An acknowledged write has taken effect by its end, and any write by the
/// end of the first read that saw its value; a write that was cut off and never seen may not have happened at all. A
/// value that expires counts as removed from some moment on, which depends on the moment of its save. A value that was
/// gone once does not come back, for whichever reason it went. The writes of one process take effect in their own
/// order.
struct Judge {
    private let byValue: [ValueIdentity: Write]
    /// By when writes had taken effect, in order, with the latest begin among those up to there.
    private let effects: [(by: MonotonicTime, begin: MonotonicTime, write: Write)]
    /// When each value had certainly been saved, and when a later write of the same process had taken effect for certain.
    private let savedBy: [ValueIdentity: MonotonicTime]
    private let overtakenBy: [ValueIdentity: MonotonicTime]
    /// Reads that found nothing, by their ends, with the latest begin among those up to there.
    private let absences: [(end: MonotonicTime, begin: MonotonicTime)]
    /// Saves, expired or not.
    private let saves: Candidates
    private let lastingSaves: Candidates
    private let expiringSaves: [Write]
    /// Removals, and saves with values that have expired.
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
        func known(_ write: Write) -> MonotonicTime? {
            let seen = write.value.flatMap { firstSeen[$0] }
            return [write.isAcknowledged ? write.end : nil, seen].compactMap { $0 }.min()
        }
        var effects: [(by: MonotonicTime, begin: MonotonicTime, write: Write)] = []
        var savedBy: [ValueIdentity: MonotonicTime] = [:]
        for write in writes {
            if let known = known(write) { effects.append((known, write.begin, write)) }
            if let value = write.value { savedBy[value] = min(write.end, firstSeen[value] ?? write.end) }
        }
        self.savedBy = savedBy
        var overtakenBy: [ValueIdentity: MonotonicTime] = [:]
        for own in Dictionary(grouping: writes, by: \.writer).values {
            var next: MonotonicTime?
            for write in own.sorted(by: { $0.begin > $1.begin }) {
                if let value = write.value { overtakenBy[value] = next }
                next = [next, known(write)].compactMap { $0 }.min()
            }
        }
        self.overtakenBy = overtakenBy
        var absences = reads.filter { $0.sight == .absent }.map { (end: $0.end, begin: $0.begin) }
        absences.sort { $0.end < $1.end }
        for index in absences.indices.dropFirst() {
            absences[index].begin = max(absences[index].begin, absences[index - 1].begin)
        }
        self.absences = absences
        effects.sort { $0.by < $1.by }
        for index in effects.indices.dropFirst() where effects[index - 1].begin > effects[index].begin {
            effects[index].begin = effects[index - 1].begin
            effects[index].write = effects[index - 1].write
        }
        self.effects = effects
        let saves = writes.filter { $0.value != nil }
        self.saves = Candidates(saves.map { ($0.begin, $0.end) })
        lastingSaves = Candidates(saves.filter { $0.lifetime == nil }.map { ($0.begin, $0.end) })
        expiringSaves = saves.filter { $0.lifetime != nil }
        let removals = writes.filter { $0.value == nil }.map { ($0.begin, $0.end) }
        // An expired value is removed later, but its save determines the state until another value takes its place.
        let expirations = expiringSaves.map { ($0.begin.advanced(by: $0.lifetime ?? .zero), $0.end) }
        self.removals = Candidates(removals + expirations)
    }

    /// The read's violation; `nil` if it is right.
    func violation(of read: Read, wasBegun: (ValueIdentity) -> Bool) -> Violation? {
        let superseding = lastEffect(before: read.begin)
        // The value of a write that ended earlier is no longer there.
        let oldest = superseding?.begin ?? .start
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
            if write.hasExpired(before: read.begin) {
                return violation(.phantom, "gave \(value), which had expired")
            }
            if let overtaken = overtakenBy[value], overtaken < read.begin {
                return violation(.phantom, "gave \(value), after what its process had done later")
            }
            if let saved = savedBy[value], let gone = lastAbsence(before: read.begin), gone > saved {
                return violation(.phantom, "gave \(value), which had been gone at \(gone.nanoseconds)")
            }
        case .absent:
            if !removals.contain(beginningBy: read.end, endingFrom: oldest) {
                return violation(.lost, "found nothing")
            }
        case .present:
            let isPossible =
                lastingSaves.contain(beginningBy: read.end, endingFrom: oldest)
                || expiringSaves.contains {
                    $0.begin <= read.end && $0.end >= oldest && !$0.hasExpired(before: read.begin)
                }
            if !isPossible { return violation(.phantom, "found something") }
        case .entry:
            if !saves.contain(beginningBy: read.end, endingFrom: oldest) {
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

    /// When the last read that found nothing, and had ended before `time`, began.
    private func lastAbsence(before time: MonotonicTime) -> MonotonicTime? {
        let count = absences.partitioningIndex { $0.end >= time }
        return count == 0 ? nil : absences[count - 1].begin
    }

    /// Moments at which a state may have begun, in order, with the latest end among those up to there.
    private struct Candidates {
        private var begins: [MonotonicTime] = []
        private var latestEnds: [MonotonicTime] = []

        init(_ spans: [(begin: MonotonicTime, end: MonotonicTime)]) {
            for span in spans.sorted(by: { $0.begin < $1.begin }) {
                begins.append(span.begin)
                latestEnds.append(max(span.end, latestEnds.last ?? .start))
            }
        }

        func contain(beginningBy last: MonotonicTime, endingFrom first: MonotonicTime) -> Bool {
            let count = begins.partitioningIndex { $0 > last }
            return count > 0 && latestEnds[count - 1] >= first
        }
    }
}

extension Array {
    /// The first index from which on `belongsBehind` is `true` for every element.
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

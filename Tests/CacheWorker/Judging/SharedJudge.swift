/// Judges the reads of processes that keep near copies of a server's entries.
///
/// A read is right if its value was on the server at some instant of the read, or of a time before it that is as long
/// as near entries may be used without contact to the server. So a value is wrong if a change that began after the end
/// of its save was acknowledged before that time. A process sees its own saves and removals, and values it has seen, at
/// once.
struct SharedJudge {
    let window: Duration

    /// Acknowledged changes, or values seen, by their ends, each with the latest begin up to there.
    private struct Marks {
        private var marks: [(end: MonotonicTime, begin: MonotonicTime, source: String)]

        init(_ marks: [(end: MonotonicTime, begin: MonotonicTime, source: String)]) {
            var marks = marks.sorted { $0.end < $1.end }
            for index in marks.indices.dropFirst() where marks[index].begin < marks[index - 1].begin {
                marks[index].begin = marks[index - 1].begin
                marks[index].source = marks[index - 1].source
            }
            self.marks = marks
        }

        /// Of those that ended before a time, the one that began last.
        func last(before time: MonotonicTime) -> (begin: MonotonicTime, source: String)? {
            var (low, high) = (0, marks.count)
            while low < high {
                let middle = (low + high) / 2
                if marks[middle].end < time { low = middle + 1 } else { high = middle }
            }
            return low == 0 ? nil : (marks[low - 1].begin, marks[low - 1].source)
        }
    }

    /// - Parameter isCalm: whether the server answered all the time: then one producer runs for each key.
    func violations(in history: SharedHistory, isCalm: Bool) -> [Violation] {
        var found = history.violations
        for (replaced, sources) in history.replacements where sources.count > 1 {
            let evidence = "\(replaced.value) of \(replaced.key) was replaced by \(sources)"
            found.append(Violation(law: .miscounted, evidence: evidence))
        }
        let reads = Dictionary(grouping: history.reads, by: \.key)
        for key in reads.keys.sorted() { found += judge(key, reads[key] ?? [], in: history) }
        if isCalm { found += doubled(history) }
        return found
    }

    private struct Span {
        let begin: MonotonicTime
        let end: MonotonicTime
    }

    private func judge(_ key: String, _ reads: [SharedHistory.Read], in history: SharedHistory) -> [Violation] {
        let changes = history.changes[key] ?? []
        var spans: [ValueIdentity: Span] = [:]
        for change in changes {
            if let value = change.value { spans[value] = Span(begin: change.begin, end: change.end) }
        }
        func span(_ value: ValueIdentity) -> Span? {
            if let span = spans[value] { return span }
            guard let isOver = history.former[.init(key: key, value: value)] else { return nil }
            return Span(begin: .start, end: isOver ? .start : SharedHistory.forever)
        }
        func marks(_ changes: [SharedHistory.Change]) -> Marks {
            Marks(changes.filter(\.isAcknowledged).map { ($0.end, $0.begin, $0.source) })
        }
        let all = marks(changes)
        let own = Dictionary(grouping: changes, by: \.writer)
        let ownMarks = own.mapValues { marks($0) }
        let seen = Dictionary(grouping: reads, by: \.reader).mapValues { reads in
            Marks(reads.compactMap { read in span(read.value).map { (read.end, $0.begin, read.source) } })
        }
        var found: [Violation] = []
        for read in reads {
            func report(_ law: Violation.Law, _ words: String) {
                let times = "[\(read.begin.nanoseconds), \(read.end.nanoseconds)]"
                found.append(
                    Violation(law: law, evidence: "\(read.source) in \(times) gave \(read.value) \(words)")
                )
            }
            guard let saved = span(read.value) else {
                report(.neverWritten, "which was never saved for it")
                continue
            }
            if saved.begin > read.end { report(.phantom, "before its save began") }
            if let later = all.last(before: read.begin.before(window)), later.begin > saved.end {
                report(.phantom, "after \(later.source)")
            }
            if let later = ownMarks[read.reader]?.last(before: read.begin), later.begin > saved.end {
                report(.backwards, "after its own \(later.source)")
            }
            if let later = seen[read.reader]?.last(before: read.begin), later.begin > saved.end {
                report(.backwards, "after \(later.source)")
            }
            for change in own[read.reader] ?? [] {
                guard let failure = change.failure, failure < read.begin, change.begin > saved.end else { continue }
                report(.backwards, "after its own failed \(change.source)")
            }
        }
        return found
    }

    /// Producers of one key that ran at once in two processes, though no change ended a lease between them.
    private func doubled(_ history: SharedHistory) -> [Violation] {
        var found: [Violation] = []
        for (key, runs) in Dictionary(grouping: history.productions, by: \.key) {
            let runs = runs.sorted { $0.begin < $1.begin }
            for (index, run) in runs.enumerated() {
                for other in runs[(index + 1)...].prefix(while: { $0.begin < run.end })
                where other.writer != run.writer {
                    let since = min(run.load, other.load)
                    let isChanged = (history.changes[key] ?? []).contains { change in
                        // A load ends no lease but its own.
                        let isLoad = change.value != nil && !change.isAcknowledged && change.failure == nil
                        return !isLoad && change.begin < other.begin && change.end > since
                    }
                    // Loads that wait for a dead process's lease stop when their time is over.
                    let isMourned = history.deaths.contains {
                        $0 < other.begin && $0.advanced(by: .seconds(10)) > since
                    }
                    if isChanged || isMourned || history.failureCount > 0 { continue }
                    let place = "processes \(run.writer) and \(other.writer) at \(other.begin.nanoseconds)"
                    found.append(Violation(law: .doubled, evidence: "producers of \(key) ran in \(place)"))
                }
            }
        }
        return found
    }
}

extension MonotonicTime {
    fileprivate func before(_ duration: Duration) -> MonotonicTime {
        let span = UInt64(max(0, duration / .nanoseconds(1)))
        return MonotonicTime(nanoseconds: nanoseconds - min(nanoseconds, span))
    }
}

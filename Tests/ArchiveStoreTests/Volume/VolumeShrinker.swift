/// Makes a failing history shorter, as long as it breaks the same law.
enum VolumeShrinker {
    static func shrink(
        _ history: VolumeHistory,
        _ states: Range<Int>,
        breaking laws: Set<String>
    ) -> (history: VolumeHistory, report: VolumeRun.Report) {
        var best = history
        var report = VolumeRun.report(best, states: states)
        func tryOne(_ candidate: VolumeHistory) -> Bool {
            let tried = VolumeRun.report(candidate, states: states)
            guard !tried.laws.isDisjoint(with: laws) else { return false }
            (best, report) = (candidate, tried)
            return true
        }
        if best.isInterleaved {
            var candidate = best
            candidate.isInterleaved = false
            _ = tryOne(candidate)
        }
        var size = best.steps.count / 2
        while size > 0 {
            var start = 0
            while start < best.steps.count {
                var candidate = best
                candidate.steps.removeSubrange(start..<min(start + size, best.steps.count))
                let keepsFailure = candidate.endsWithPowerFailure == best.endsWithPowerFailure
                if !keepsFailure || !tryOne(candidate) { start += size }
            }
            size /= 2
        }
        for place in best.later.indices.reversed() {
            var candidate = best
            candidate.later.remove(at: place)
            _ = tryOne(candidate)
        }
        for place in best.steps.indices where best.steps[place].event != nil && !best.endsWithPowerFailure {
            var candidate = best
            candidate.steps[place].event = nil
            _ = tryOne(candidate)
        }
        return (best, report)
    }

    /// A failure as a person can follow it.
    static func describe(_ history: VolumeHistory, states: Range<Int>, _ report: VolumeRun.Report) -> String {
        let (short, again) = shrink(history, states, breaking: report.laws)
        return "\(short)\n  \(again.violations.prefix(3).joined(separator: "\n  "))"
    }
}

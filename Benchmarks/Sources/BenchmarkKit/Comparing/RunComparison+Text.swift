extension RunComparison {
    /// The text to print: warnings, then figures that became worse, then the others.
    package var text: String {
        var lines = warnings
        for verdict in [Change.Verdict.worse, .better] {
            let changed = changes.filter { $0.verdict == verdict }
            if changed.isEmpty { continue }
            lines += ["", "\(verdict.rawValue):"]
            lines += changed.map(Self.line)
        }
        for (name, identities) in [("appeared", appeared), ("disappeared", disappeared)] where !identities.isEmpty {
            lines += ["", "\(name):"]
            lines += identities.map { "  \(Self.name($0))" }
        }
        let noise = changes.count { $0.verdict == .noise }
        lines += ["", "\(noise) of \(changes.count) figures are the same but for noise."]
        if let drift {
            lines.append("The peers' times became \(Figure.ratio(drift)) in the median, which is the machine.")
        }
        return lines.drop { $0.isEmpty }.joined(separator: "\n")
    }

    private static func line(_ change: Change) -> String {
        let before = Figure.value(change.before.value, unit: change.before.unit)
        let after = Figure.value(change.after.value, unit: change.after.unit)
        return "  \(name(change.identity)): \(change.after.metric) \(before) → \(after), "
            + Figure.ratio(change.ratio)
    }

    private static func name(_ identity: FindingIdentity) -> String {
        "\(identity.suite), \(identity.title), \(identity.subject)"
    }
}

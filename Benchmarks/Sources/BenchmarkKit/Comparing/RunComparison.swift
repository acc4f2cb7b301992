/// What changed from one run to another.
package struct RunComparison {
    let changes: [Change]
    let appeared: [FindingIdentity]
    let disappeared: [FindingIdentity]
    /// Why the two runs are no fair comparison, as sentences.
    let warnings: [String]

    package init(before: Run, after: Run) {
        let earlier = Self.figures(before)
        let later = Self.figures(after)
        let earlierByIdentity = Dictionary(earlier, uniquingKeysWith: { first, _ in first })
        let laterIdentities = Set(later.map(\.0))
        changes = later.flatMap { identity, figures in
            figures.compactMap { figure in
                earlierByIdentity[identity]?.first { $0.metric == figure.metric }
                    .map { Change(identity: identity, before: $0, after: figure) }
            }
        }
        appeared = later.map(\.0).filter { earlierByIdentity[$0] == nil }
        // A suite that was not asked for did not disappear.
        let suites = Set(after.suites)
        disappeared = earlier.map(\.0).filter { suites.contains($0.suite) && !laterIdentities.contains($0) }
        var warnings: [String] = []
        if before.machine != after.machine { warnings.append("The machines differ: compare ratios only.") }
        if before.toolchain != after.toolchain { warnings.append("The toolchains differ.") }
        if before.isQuick || after.isQuick { warnings.append("Quick runs are rough.") }
        self.warnings = warnings
    }

    /// The figures that can be compared, without those that were not measured.
    private static func figures(_ run: Run) -> [(FindingIdentity, [ComparedFigure])] {
        run.findings.map { ($0.identity, ComparedFigure.all(of: $0.outcome)) }.filter { !$0.1.isEmpty }
    }
}

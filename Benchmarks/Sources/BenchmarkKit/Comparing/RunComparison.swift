/// The changes from one run to another.
package struct RunComparison {
    let changes: [Change]
    let appeared: [FindingIdentity]
    let disappeared: [FindingIdentity]
    /// Why the two runs are no fair comparison, as sentences.
    let warnings: [String]

    package init(before: Run, after: Run) {
        let earlier = Self.figures(before)
        let later = Self.figures(after)
        let earlierByIdentity = Dictionary(
            earlier.map { ($0.identity, $0.figures) },
            uniquingKeysWith: { first, _ in first }
        )
        let laterIdentities = Set(later.map(\.identity))
        changes = later.flatMap { found in
            found.figures.compactMap { figure in
                earlierByIdentity[found.identity]?.first { $0.metric == figure.metric }
                    .map { Change(identity: found.identity, isOurs: found.isOurs, before: $0, after: figure) }
            }
        }
        appeared = later.map(\.identity).filter { earlierByIdentity[$0] == nil }
        // A suite that was not asked for did not disappear.
        let suites = Set(after.suites)
        disappeared = earlier.map(\.identity).filter { suites.contains($0.suite) && !laterIdentities.contains($0) }
        var warnings: [String] = []
        if before.machine != after.machine { warnings.append("The machines differ: compare ratios only.") }
        if before.toolchain != after.toolchain { warnings.append("The toolchains differ.") }
        if before.isQuick || after.isQuick { warnings.append("Quick runs are rough.") }
        self.warnings = warnings
    }

    /// How much the peers' times changed, in the median: the peers did not change, so the machine did. `nil` where no
    /// times of peers were compared.
    var drift: Double? {
        let ratios = changes.filter { !$0.isOurs && $0.before.metric == "time" }.map(\.ratio)
        return ratios.isEmpty ? nil : Percentile.value(0.5, of: ratios)
    }

    private typealias Found = (identity: FindingIdentity, isOurs: Bool, figures: [ComparedFigure])

    /// The figures that can be compared, without those that were not measured.
    private static func figures(_ run: Run) -> [Found] {
        run.findings.map { ($0.identity, $0.isOurs, ComparedFigure.all(of: $0.outcome)) }
            .filter { !$0.figures.isEmpty }
    }
}

/// The work that an archive may still ask for: its size decides how much that is.
///
/// A class that a reader's parts share: they spend from one budget.
final class DecodingBudget {
    // Unchecked exclusivity: as in `KeyedUnarchiver`.
    @exclusivity(unchecked) private var references = 0
    @exclusivity(unchecked) private var bytes = 0

    /// Grants an archive of `byteCount` bytes the references and decoded bytes that the limits allow.
    func grant(_ limits: ArchiveLimits, byteCount: Int) {
        references = limits.references(in: byteCount)
        bytes = limits.decodedBytes(in: byteCount)
    }

    /// Counts references that are followed, and keys that are searched.
    ///
    /// - Throws: `.limitExceeded`.
    func spend(_ references: Int) throws(ArchiveError) {
        self.references &-= references
        if self.references < 0 { throw Self.overspent }
    }

    /// Counts bytes of text and data that are decoded.
    ///
    /// - Throws: `.limitExceeded`.
    func spend(bytes: Int) throws(ArchiveError) {
        self.bytes &-= bytes
        if self.bytes < 0 { throw Self.overspent }
    }

    static let overspent = ArchiveError(.limitExceeded, "the archive holds far more than its size can justify")
}

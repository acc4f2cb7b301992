/// The version of a key's entry that all readings found which were under way at once.
///
/// The order in which a store answered readings that were under way at once is not known, nor are versions ordered. So
/// where two found different ones, either may be the later, and neither may take the place of the other.
package struct AgreedVersion: Sendable {
    private var version: UInt64?

    package init() {}

    /// - Parameter found: the version that a reading found, which ends now; 0 for no entry.
    /// - Returns: whether none has found another one. If one has, all that was found before is forgotten.
    package mutating func agree(on found: UInt64) -> Bool {
        let isAgreed = version == nil || version == found
        version = isAgreed ? found : nil
        return isAgreed
    }
}

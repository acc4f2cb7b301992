/// All that is known of one trace at one size.
public struct PublishedCell: Sendable {
    public let trace: String
    public let entryCount: Int
    /// In percent of the requests, in the order of `PublishedHitRatios.policies`.
    public let percentages: [Double]

    init(_ trace: String, _ entryCount: Int, _ percentages: [Double]) {
        self.trace = trace
        self.entryCount = entryCount
        self.percentages = percentages
    }

    /// - Returns: `nil` if no such policy is known.
    public func percentage(of policy: String) -> Double? {
        PublishedHitRatios.policies.firstIndex(of: policy).map { percentages[$0] }
    }
}

/// How long doing a piece of work once takes, and its other costs.
package struct TimeFigures: Codable, Equatable, Sendable {
    /// Nanoseconds.
    package let nanoseconds: Summary
    /// The time as a multiple of ours, sample by sample; `nil` where ours is not among the subjects.
    package let ratio: Summary?
    /// How often memory is allocated; `nil` where that cannot be told.
    package let allocations: Double?
    /// The size of the work's result, if that says something.
    package let bytes: Int?

    package init(nanoseconds: Summary, ratio: Summary? = nil, allocations: Double? = nil, bytes: Int? = nil) {
        self.nanoseconds = nanoseconds
        self.ratio = ratio
        self.allocations = allocations
        self.bytes = bytes
    }
}

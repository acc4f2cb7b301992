/// Says that a cache does not take one record, though it may take others.
package struct RejectedRecord: Error, Sendable, Equatable {
    /// Why, in one sentence without its period and without the record's values.
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}

/// A record that cannot be taken, and why; the ones after it can.
struct BadRecord: Error, Sendable, Equatable {
    /// The line on which the record begins, from 1.
    let line: Int
    let reason: BadRecordReason
}

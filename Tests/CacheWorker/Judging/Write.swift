/// Something that gave a key a new state, a value or none, at one moment of an interval; or that may have.
struct Write: Hashable {
    /// The value that was saved; `nil` for a removal, and for a save that failed.
    let value: ValueIdentity?
    let begin: MonotonicTime
    /// The last moment at which it may have taken effect: when it was acknowledged, or its process was dead.
    var end: MonotonicTime
    /// How long after it took effect its value expires; `nil` for never.
    var lifetime: Duration?
    /// Whether it was acknowledged, so that it has certainly taken effect by its end.
    var isAcknowledged: Bool
    /// The number of its process. Writes of one process to a key take effect in the order in which they began.
    let writer: Int
    /// The operation, for people.
    let source: String

    /// Whether its value had certainly expired before `time`.
    func hasExpired(before time: MonotonicTime) -> Bool {
        lifetime.map { end.advanced(by: $0) < time } ?? false
    }

    /// The state before anything that is judged.
    static func initial(_ value: ValueIdentity?) -> Write {
        Write(
            value: value,
            begin: .start,
            end: .start,
            isAcknowledged: true,
            writer: -1,
            source: "the state at first"
        )
    }
}

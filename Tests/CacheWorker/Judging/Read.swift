/// The state of a key that a read saw at one moment of an interval.
struct Read: Hashable {
    enum Sight: Hashable {
        case value(ValueIdentity)
        /// Some value.
        case present
        /// Some value, expired or not.
        case entry
        case absent
    }

    let key: String
    let begin: MonotonicTime
    let end: MonotonicTime
    let sight: Sight
    /// The reader, for people.
    let source: String
}

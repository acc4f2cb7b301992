/// What was seen of a key at one moment of an interval.
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
    /// Who saw it, for people.
    let source: String
}

/// The entries that were evicted to make room, for the store's user to be told of.
struct Evictions: Sendable {
    var evicted: [EntryInformation] = []
    var expired: [EntryInformation] = []

    var isEmpty: Bool { evicted.isEmpty && expired.isEmpty }

    static func += (one: inout Evictions, other: Evictions) {
        one.evicted += other.evicted
        one.expired += other.expired
    }
}

import Foundation

/// A place in the order of requests, saves and invalidations of an account.
///
/// An answer has the revision of its request's beginning, so of two answers the one stays whose request began later,
/// whichever comes first. Clocks take no part.
struct Revision: Hashable, Comparable, Codable, Sendable {
    let number: UInt64

    init(_ number: UInt64) { self.number = number }

    static let none = Revision(0)

    static func < (left: Revision, right: Revision) -> Bool { left.number < right.number }

    init(from decoder: any Decoder) throws {
        number = UInt64(bitPattern: try decoder.singleValueContainer().decode(Int64.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Int64(bitPattern: number))
    }
}

/// The beginning of a request: its place in the order, and the moment.
struct RequestStart: Sendable {
    let revision: Revision
    let date: Date
}

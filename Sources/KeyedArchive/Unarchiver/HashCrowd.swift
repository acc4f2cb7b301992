import Foundation

/// Notices when a set or dictionary from an archive is made so that its members share a hash.
///
/// Each insertion would then compare with all that are there, and 100,000 members take half an hour. Swift seeds
/// its hashes against that, but Foundation does not: its numbers beyond 2^64 all have one hash, data is hashed by
/// its first 80 bytes, long strings by parts of themselves.
package struct HashCrowd {
    /// How many members may share a hash; below that many members nothing is counted.
    static let limit = 1_024

    private let isCounting: Bool
    private var crowds: [Int: Int] = [:]

    package init(memberCount: Int) { isCounting = memberCount > Self.limit }

    /// Counts a member before it is inserted.
    ///
    /// - Throws: `.limitExceeded`.
    package mutating func admit(_ member: AnyHashable) throws(ArchiveError) {
        guard isCounting else { return }
        // Foundation's hash too: the collection may be one of Foundation's, or become one by a cast.
        for hash in [member.hashValue, (member.base as? NSObject)?.hash].compactMap(\.self) {
            crowds[hash, default: 0] += 1
            if crowds[hash, default: 0] > Self.limit {
                throw ArchiveError(.limitExceeded, "more than \(Self.limit) members of a collection share a hash")
            }
        }
    }
}

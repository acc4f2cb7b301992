import Foundation

/// Looks at the members of a set, or the keys of a dictionary, from an archive before they are inserted: notices when they
/// are made so that they share a hash, and makes equal texts one member.
///
/// Each insertion would then compare with all that are there, and 100,000 members take half an hour. Swift seeds
/// its hashes against that, but Foundation does not: its numbers beyond 2^64 all have one hash, data is hashed by
/// its first 80 bytes, long strings by parts of themselves.
package struct HashCrowd {
    /// How many members may share a hash; below that many members nothing is counted.
    static let limit = 1_024

    private let isCounting: Bool
    private var crowds: [Int: Int] = [:]
    #if !canImport(Darwin)
        private var texts: EqualTexts
    #endif

    package init(memberCount: Int) {
        isCounting = memberCount > Self.limit
        #if !canImport(Darwin)
            texts = EqualTexts(memberCount: memberCount)
        #endif
    }

    /// The member to insert in the place of `member`: the first member with an equal text, if there is one, or itself.
    ///
    /// - Throws: `.limitExceeded`.
    package mutating func admit(_ member: AnyHashable) throws(ArchiveError) -> AnyHashable {
        if isCounting { try count(member) }
        #if canImport(Darwin)
            return member
        #else
            return texts.first(equalTo: member)
        #endif
    }

    private mutating func count(_ member: AnyHashable) throws(ArchiveError) {
        // Foundation's hash too: the collection may be one of Foundation's, or become one by a cast.
        for hash in [member.hashValue, (member.base as? NSObject)?.hash].compactMap(\.self) {
            crowds[hash, default: 0] += 1
            if crowds[hash, default: 0] > Self.limit {
                throw ArchiveError(.limitExceeded, "more than \(Self.limit) members of a collection share a hash")
            }
        }
    }
}

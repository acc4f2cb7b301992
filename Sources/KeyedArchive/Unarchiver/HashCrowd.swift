import Foundation

/// Looks at the members of a set, or the keys of a dictionary, from an archive before they are inserted: notices when they
/// are made so that they share a hash, and makes equal texts one member.
///
/// Each insertion would then compare with all that are there, and 100,000 members take half an hour. Swift seeds
/// its hashes against that, but Foundation does not: its numbers beyond 2^64 all have one hash, data is hashed by
/// its first 80 bytes, long strings by parts of themselves. Foundation on Linux takes microseconds to compare data, which
/// many collections may share, so that each comparison of data is charged to the archive's budget.
package struct HashCrowd {
    /// How many members may share a hash; below that many members only data is counted.
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
    /// - Parameter spend: charges the comparisons of data, and the hashing of long members, to the archive's budget.
    /// - Throws: `.limitExceeded`.
    package mutating func admit(
        _ member: AnyHashable,
        spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> AnyHashable {
        let hashed = Self.hashedByteCount(of: member.base)
        // Many collections may share a long member.
        if hashed > Self.shortMember { try spend(hashed / 8) }
        let byteCount = Self.byteCount(ofData: member.base)
        if isCounting || byteCount != nil {
            let earlier = try count(member)
            if let byteCount { try spend(earlier * (Self.bytesPerComparison + byteCount) / 16) }
        }
        #if canImport(Darwin)
            return member
        #else
            return texts.first(equalTo: member)
        #endif
    }

    /// Shorter members are hashed in no more time than their reference takes.
    private static let shortMember = 64

    /// How many bytes are hashed for a member; 0 for a type of fixed size.
    private static func hashedByteCount(of member: Any) -> Int {
        if let text = content(of: member, as: String.self) { return text.utf8.count }
        if let data = content(of: member, as: Data.self) { return data.count }
        if let url = content(of: member, as: URL.self) { return url.absoluteString.utf8.count }
        return content(of: member, as: IndexPath.self).map { 8 * $0.count } ?? 0
    }

    /// As many bytes take as long as the rest of a comparison.
    private static let bytesPerComparison = 1_024

    /// How many bytes data has; `nil` for all else.
    @inline(__always)
    package static func byteCount(ofData member: Any) -> Int? {
        // The commonest one first.
        if content(of: member, as: String.self) != nil { return nil }
        if let data = content(of: member, as: Data.self) { return data.count }
        return type(of: member) is NSData.Type ? (member as? NSData)?.length : nil
    }

    /// Counts a member, and returns how many of the same hash there were before.
    private mutating func count(_ member: AnyHashable) throws(ArchiveError) -> Int {
        var earlier = 0
        // Foundation's hash too: the collection may be one of Foundation's, or become one by a cast.
        for hash in [member.hashValue, (member.base as? NSObject)?.hash].compactMap(\.self) {
            let known = crowds[hash, default: 0]
            if known >= Self.limit {
                throw ArchiveError(.limitExceeded, "more than \(Self.limit) members of a collection share a hash")
            }
            crowds[hash] = known + 1
            earlier = max(earlier, known)
        }
        return earlier
    }
}

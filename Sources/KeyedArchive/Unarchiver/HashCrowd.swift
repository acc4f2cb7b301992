import Foundation

/// Looks at the members of a set, or the keys of a dictionary, from an archive before they are inserted: notices when they
/// are made so that they share a hash, and makes equal texts one member.
///
/// Each insertion would then compare with all that are there, and 100,000 members take half an hour. Swift seeds
/// its hashes against that, but Foundation does not: its numbers beyond 2^64 all have one hash, data is hashed by
/// its first 80 bytes, long strings by parts of themselves, and texts can be made for a hash. Many collections may share
/// such members, so that each comparison with a member of the same hash is charged to the archive's budget.
package struct HashCrowd {
    /// How many members may share a hash.
    static let limit = 1_024

    /// As many members are compared with each other in the time that their references take; only data is counted then.
    private static let fewMembers = 64

    private let isCounting: Bool
    /// How many members there are so far.
    private var memberCount = 0
    private var crowds: [Int: Int] = [:]
    #if !canImport(Darwin)
        private var texts: EqualTexts
    #endif

    package init(memberCount: Int) {
        isCounting = memberCount > Self.fewMembers
        #if !canImport(Darwin)
            texts = EqualTexts(memberCount: memberCount)
        #endif
    }

    /// The member to insert in the place of `member`: the first member with an equal text, if there is one, or itself.
    ///
    /// - Parameter spend: charges the comparisons of members, and the hashing of long ones, to the archive's budget.
    /// - Throws: `.limitExceeded`.
    package mutating func admit(
        _ member: AnyHashable,
        spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> AnyHashable {
        // Many collections may share a long member, and any number of members that have one hash.
        let comparisons = min(memberCount, Self.limit) / Self.comparisonsPerUnit
        memberCount += 1
        let cost = Self.cost(ofHashing: member.base) + comparisons
        if cost > 0 { try spend(cost) }
        let byteCount = Self.byteCount(ofData: member.base)
        if isCounting || byteCount != nil {
            let earlier = try count(member)
            if let byteCount {
                try spend(earlier * (Self.bytesPerComparison + byteCount) / 16)
            } else if earlier > 0 {
                try spend(earlier * Self.cost(ofComparing: member.base))
            }
        }
        #if canImport(Darwin)
            return member
        #else
            return texts.first(equalTo: member)
        #endif
    }

    /// In small collections members may all have one hash. As many comparisons cost a unit of the budget: an archive
    /// that does not share the lists of members has the units for all of them.
    private static let comparisonsPerUnit = 32

    /// Shorter members are hashed in no more time than their reference takes.
    private static let shortMember = 64

    /// The cost of a member's hash, in units of the archive's budget: an eighth of the bytes that are hashed; 0 for a
    /// short one, and for types of fixed size.
    package static func cost(ofHashing member: Any) -> Int {
        if let text = content(of: member, as: String.self) { return cost(ofHashing: text.utf8.count) }
        if let data = content(of: member, as: Data.self) { return cost(ofHashing: data.count) }
        // Foundation's hash of a URL takes a hundred times as long as that of a text.
        if let url = content(of: member, as: URL.self) {
            return 16 * cost(ofHashing: url.absoluteString.utf8.count)
        }
        if let path = content(of: member, as: IndexPath.self) { return cost(ofHashing: 8 * path.count) }
        if let item = content(of: member, as: URLQueryItem.self) {
            return cost(ofHashing: item.name.utf8.count + (item.value?.utf8.count ?? 0))
        }
        let type = type(of: member)
        if type is NSString.Type, let text = member as? NSString { return cost(ofHashing: text.length) }
        if type is NSPersonNameComponents.Type || type == PersonNameComponents.self {
            return (member as? PersonNameComponents).map { cost(ofHashing: $0.archivedByteCount) } ?? 0
        }
        return 0
    }

    private static func cost(ofHashing byteCount: Int) -> Int { byteCount > shortMember ? byteCount / 8 : 0 }

    /// The cost of adding a member to a counted set once more, in references: Foundation hashes it and, if it is data,
    /// compares it with itself, byte by byte.
    static func cost(ofCounting member: Any) -> Int {
        if let byteCount = byteCount(ofData: member) { return 1 + byteCount / 8 }
        // Of these, Foundation hashes some parts.
        if content(of: member, as: String.self) != nil || content(of: member, as: URL.self) != nil { return 1 }
        return 1 + cost(ofHashing: member) / 8
    }

    /// The cost of comparing a member with another one of its hash, in units of the archive's budget.
    /// A list that is not shared has the units for as many members as may share a hash: a text has its bytes for that, of
    /// more than 96 if it was not made for the hash, and every object a dozen.
    private static func cost(ofComparing member: Any) -> Int {
        if let text = content(of: member, as: String.self) { return cost(ofComparingText: text.utf8.count) }
        if let url = content(of: member, as: URL.self) {
            return cost(ofComparingText: url.relativeString.utf8.count)
        }
        guard type(of: member) is NSString.Type, let text = member as? NSString else { return 1 }
        return cost(ofComparingText: text.length)
    }

    private static func cost(ofComparingText byteCount: Int) -> Int { 8 + byteCount / 512 }

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
        for hash in Self.hashes(of: member) {
            let known = crowds[hash, default: 0]
            if known >= Self.limit {
                throw ArchiveError(.limitExceeded, "more than \(Self.limit) members of a collection share a hash")
            }
            crowds[hash] = known + 1
            earlier = max(earlier, known)
        }
        return earlier
    }

    /// The hashes by which the member is found: Foundation's, too, for the collection may be one of Foundation's, or become
    /// one by a cast.
    private static func hashes(of member: AnyHashable) -> [Int] {
        // Swift's has a seed.
        if let text = content(of: member.base, as: String.self) { return [NSString(string: text).hash] }
        let own = member.hashValue
        // Objects of Foundation have it for their own.
        guard let hash = (member.base as? NSObject)?.hash, hash != own else { return [own] }
        return [own, hash]
    }
}

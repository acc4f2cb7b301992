import Foundation

// NSOrderedSet, NSMutableOrderedSet:
//
//     NS.object.0, NS.object.1, …   the members
//
// NSCountedSet:
//
//     NS.count                      how many members
//     NS.object0, NS.count0, …      a member, and how often it is there

extension NSOrderedSet: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let type: AnyClass = self is NSMutableOrderedSet ? NSMutableOrderedSet.self : NSOrderedSet.self
        return archiver.form(type, of: self) {
            for (index, member) in enumerated() { archiver.encode(member: member, forKey: "NS.object.\(index)") }
        }
    }
}

extension NSCountedSet {
    /// Foundation adds members one by one, so a count is work for the reader.
    fileprivate static let countLimit = 1 << 19

    func archiveCounts(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSCountedSet.self, of: self) {
            archiver.encode(count, forKey: "NS.count")
            var total = 0
            for (index, member) in enumerated() {
                let times = self.count(for: member)
                total += times
                archiver.encode(member: member, forKey: "NS.object\(index)")
                archiver.encode(times, forKey: "NS.count\(index)")
            }
            if total > Self.countLimit {
                archiver.record(
                    ArchiveError(.limitExceeded, "counted set whose counts add up to more than \(Self.countLimit)")
                )
            }
        }
    }
}

extension KeyedArchiver {
    fileprivate func encode(member: Any, forKey key: String) {
        let uid = hashed(member)
        if !hasFailed { writer.set(key, writer.reference(to: uid)) }
    }
}

extension FoundationForm {
    static let orderedSets = [
        FoundationForm("NSOrderedSet", isCollection: true, orderedSet),
        FoundationForm("NSMutableOrderedSet", isCollection: true, mutableOrderedSet),
        FoundationForm("NSCountedSet", isCollection: true, countedSet),
    ]

    private static func orderedSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        var members: [Any] = []
        try forEachMember(&fields) { members.append($0) }
        let set = NSOrderedSet(array: members)
        if set.count == members.count { return set }
        // Foundation on Linux keeps a member's second place in the order.
        let unique = NSMutableOrderedSet()
        for member in members { unique.add(member) }
        return NSOrderedSet(array: unique.array)
    }

    // Mutable collections are made before their members, since parts of the members may refer to them.

    private static func mutableOrderedSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let set = NSMutableOrderedSet()
        fields.unarchiver.cycles.open(set, fields.uid)
        defer { fields.unarchiver.cycles.closeCollection() }
        try forEachMember(&fields) { set.add($0) }
        return set
    }

    private static func forEachMember(_ fields: inout FormFields, _ body: (Any) -> Void) throws(ArchiveError) {
        try fields.forEachHashedMember { body($0.base) }
    }

    private static func countedSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let set = NSCountedSet()
        fields.unarchiver.cycles.open(set, fields.uid)
        defer { fields.unarchiver.cycles.closeCollection() }
        let count = try fields.requiredInteger("NS.count")
        guard (0...fields.scope.fields.count).contains(count) else {
            throw fields.malformed("with another number of members than it says")
        }
        var crowd = HashCrowd(memberCount: count)
        for index in 0..<count {
            guard let object = try fields.object("NS.object\(index)") else { throw fields.malformed() }
            let member = try fields.admit(object, to: &crowd)
            let times = try fields.requiredInteger("NS.count\(index)")
            guard times > 0 else { throw fields.malformed("with a count of 0 or less") }
            guard times <= NSCountedSet.countLimit else {
                throw ArchiveError(.limitExceeded, "counted set with a count above \(NSCountedSet.countLimit)")
            }
            try fields.unarchiver.budget.spend(times * HashCrowd.cost(ofCounting: member.base))
            // One object: to make one of a URL takes longer than all else, each time.
            let counted = member.base as? NSObject ?? member.base
            for _ in 0..<times { set.add(counted) }
        }
        return set
    }
}

import Foundation

/// The tags of entries: strings of 1 to 256 UTF-8 bytes, 10 for each entry at most.
package enum EntryTags {
    package static let byteCounts = 1...256
    private static let mostTags = 10

    /// The tags in ascending order of their bytes.
    ///
    /// - Throws: `.invalidTag`.
    static func check(_ tags: Set<String>) throws(CacheError) -> [String] {
        guard tags.count <= mostTags else {
            throw CacheError(.invalidTag, "an entry has up to \(mostTags) tags, not \(tags.count)")
        }
        for tag in tags { try check(tag) }
        return tags.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Tags from outside in ascending order of their bytes, each once; compared by their bytes, as a store does.
    ///
    /// - Throws: `.invalidTag`.
    static func check(_ tags: [String]) throws(CacheError) -> [String] {
        var checked: [String] = []
        for tag in tags.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            try check(tag)
            if checked.last.map({ !$0.utf8.elementsEqual(tag.utf8) }) ?? true { checked.append(tag) }
        }
        guard checked.count <= mostTags else {
            throw CacheError(.invalidTag, "an entry has up to \(mostTags) tags, not \(checked.count)")
        }
        return checked
    }

    /// - Throws: `.invalidTag`.
    static func check(_ tag: String) throws(CacheError) {
        guard byteCounts.contains(tag.utf8.count) else {
            throw CacheError(.invalidTag, "a tag is 1 to 256 UTF-8 bytes long, not \(tag.utf8.count)")
        }
    }
}

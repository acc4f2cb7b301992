import Foundation

/// The keys of dictionaries that came before. Most lists are records, whose dictionaries have the same keys, in any order:
/// those are made as copies of one dictionary, without a hash of any key.
///
/// A key is known by the place of its text, which readers share between equal keys as far as they can; a dictionary whose
/// keys have other places has no form.
struct DictionaryForms {
    private let table: NodeTable
    private var known: [(sum: UInt64, form: DictionaryForm?)] = Array(repeating: (0, nil), count: 16)

    init(_ table: NodeTable) { self.table = table }

    /// The form of a dictionary; `nil` if none with the same keys came shortly before, or if a key is there twice.
    mutating func form(of node: Node) -> DictionaryForm? {
        // One pair is made as fast by itself, and many would be long to keep.
        guard node.length > 1, node.length <= DictionaryForm.mostKeys else { return nil }
        var sum = UInt64(node.count)
        table.forEachKey(of: node) { key, _ in sum &+= DictionaryForm.hash(key) }
        let slot = Int(truncatingIfNeeded: sum >> 60)
        guard known[slot].sum == sum else {
            known[slot] = (sum, nil)
            return nil
        }
        if let form = known[slot].form { return form.hasKeys(of: node, in: table) ? form : nil }
        let form = DictionaryForm(table, node)
        known[slot].form = form
        return form
    }
}

/// A dictionary's keys.
final class DictionaryForm {
    static let mostKeys = 64

    /// Has all keys, each with a placeholder.
    let empty: [String: Any]
    /// Of each key, the place of its value in `empty`.
    let places: [Dictionary<String, Any>.Index]
    let keys: [NSString]
    /// By hash of the place of a key's text: the place, and the key's index; 2 entries for each key at least.
    private var entries: [(start: UInt64, count: UInt32, index: UInt8)]

    /// - Returns: `nil` if a key is there twice.
    init?(_ table: NodeTable, _ node: Node) {
        let names = table.keys(of: node)
        var empty: [String: Any] = [:]
        empty.reserveCapacity(names.count)
        for name in names { empty[name] = false }
        guard empty.count == names.count else { return nil }
        self.empty = empty
        places = names.compactMap { empty.index(forKey: $0) }
        keys = names.map { NSString(string: $0) }
        entries = Array(repeating: (.max, 0, 0), count: 2 * Self.mostKeys)
        var index: UInt8 = 0
        table.forEachKey(of: node) { key, _ in
            var at = Self.slot(key)
            while entries[at].start != .max { at = (at + 1) % entries.count }
            entries[at] = (key.payload, key.count, index)
            index += 1
        }
    }

    @inline(__always)
    static func hash(_ key: Node) -> UInt64 {
        (key.payload ^ UInt64(key.count) << 40) &* 0x9E37_79B9_7F4A_7C15
    }

    @inline(__always)
    private static func slot(_ key: Node) -> Int { Int(truncatingIfNeeded: hash(key) >> 57) }

    /// The index of a key; `nil` if the form has none with its place.
    @inline(__always)
    func index(of key: Node) -> Int? {
        var at = Self.slot(key)
        while entries[at].start != key.payload || entries[at].count != key.count {
            guard entries[at].start != .max else { return nil }
            at = (at &+ 1) & (2 &* Self.mostKeys &- 1)
        }
        return Int(entries[at].index)
    }

    /// Whether a dictionary has each of the keys once, and no others.
    func hasKeys(of node: Node, in table: NodeTable) -> Bool {
        guard node.length == places.count else { return false }
        var found: UInt64 = 0
        var hasAll = true
        table.forEachKey(of: node) { key, _ in
            if let index = index(of: key) { found |= 1 &<< UInt64(index) } else { hasAll = false }
        }
        return hasAll && found.nonzeroBitCount == places.count
    }
}

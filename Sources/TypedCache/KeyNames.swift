/// The keys of one call for several of them, and the texts that they are saved under.
struct KeyNames<Key: CacheKey>: Sendable {
    /// Each text once.
    let entryKeys: [EntryKey]
    private let keys: [Key]
    /// The place in ``entryKeys`` of each key's text.
    private let places: [Int]

    /// - Throws: `.invalidKey`, as ``EntryKey/distinct(_:)``.
    init(_ keys: some Sequence<Key>) throws(CacheError) {
        self.keys = Array(keys)
        (entryKeys, places) = try EntryKey.distinct(self.keys.map { $0.cacheKey })
    }

    /// The first key with each of these texts.
    func keys(of texts: [String]) -> [Key] {
        let first = Dictionary(zip(places, keys)) { first, _ in first }
        let byText = Dictionary(uniqueKeysWithValues: entryKeys.indices.map { (entryKeys[$0].text, first[$0]) })
        return texts.compactMap { byText[$0] ?? nil }
    }

    /// Values by the keys that were asked for, from values by text.
    func named<Value>(_ values: [String: Value]) -> [Key: Value] {
        var named: [Key: Value] = [:]
        for index in keys.indices {
            if let value = values[entryKeys[places[index]].text] { named[keys[index]] = value }
        }
        return named
    }

    /// Values by text, from values by key.
    func texts<Value>(of values: [Key: Value]) -> [String: Value] {
        Dictionary(values.map { ($0.key.cacheKey, $0.value) }) { first, _ in first }
    }
}

/// The keys of one call for several of them, and the texts that they are saved under.
struct KeyNames<Key: CacheKey>: Sendable {
    /// Each text once.
    let entryKeys: [EntryKey]
    private let keys: [String: [Key]]

    /// - Throws: `.invalidKey`, as ``EntryKey/distinct(_:)``.
    init(_ keys: some Sequence<Key>) throws(CacheError) {
        let keys = Array(keys)
        entryKeys = try EntryKey.distinct(keys.map(\.cacheKey))
        self.keys = Dictionary(grouping: keys, by: \.cacheKey)
    }

    /// The first key with this text.
    subscript(text: String) -> Key? { keys[text]?.first }

    /// Values by the keys that were asked for, from values by text.
    func named<Value>(_ values: [String: Value]) -> [Key: Value] {
        var named: [Key: Value] = [:]
        for (text, value) in values {
            for key in keys[text] ?? [] { named[key] = value }
        }
        return named
    }

    /// Values by text, from values by key.
    func texts<Value>(of values: [Key: Value]) -> [String: Value] {
        Dictionary(values.map { ($0.key.cacheKey, $0.value) }) { first, _ in first }
    }
}

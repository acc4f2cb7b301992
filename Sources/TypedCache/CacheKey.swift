import Foundation

/// A key that an entry is saved under.
///
/// Keys are strings of 1 to 1,024 UTF-8 bytes, any characters, compared byte by byte. `String`, `Substring`, `Int`,
/// `UUID` and `URL` are keys. Other types give the string that stands for them; a type with a raw value that is a key declares the conformance alone:
///
/// ```swift
/// enum Place: String, CacheKey { case home, work }
/// ```
public protocol CacheKey: Hashable, Sendable {
    /// The key as a string. Equal keys must give equal strings, unequal ones unequal strings.
    var cacheKey: String { get }
}

extension String: CacheKey {
    /// The string itself.
    public var cacheKey: String { self }
}

extension Substring: CacheKey {
    /// The text as a string.
    public var cacheKey: String { String(self) }
}

/// The number in decimal: `42` and `"42"` are one key.
extension Int: CacheKey {
    /// The number in decimal, such as `-42`.
    public var cacheKey: String { String(self) }
}

/// The UUID in its usual form, in capital letters.
extension UUID: CacheKey {
    /// The UUID in its usual form, in capital letters.
    public var cacheKey: String { uuidString }
}

/// The absolute URL as text, `https://example.org/a?b=c`, as it was written: neither case nor escapes are changed.
///
/// A relative URL and the absolute one that it stands for are one key, though `URL` takes them for unequal. A URL of
/// more than 1,024 UTF-8 bytes, as those with `data:` often are, is `.invalidKey`.
extension URL: CacheKey {
    /// The absolute URL as text.
    public var cacheKey: String { absoluteString }
}

extension CacheKey where Self: RawRepresentable, RawValue: CacheKey {
    /// The raw value's key.
    public var cacheKey: String { rawValue.cacheKey }
}

/// A key's bytes: two keys with the same bytes are one.
///
/// `String`'s own equality takes some different byte sequences as the same text. The first bytes stand in the key
/// itself, so that comparing two keys of usual length does not reach for their text, which lies elsewhere in
/// memory: that took a sixth of the time of a hit.
struct EntryKey: Hashable, Sendable {
    /// The first 32 bytes; zeros where there are fewer.
    private let start: (UInt64, UInt64, UInt64, UInt64)
    let hash: UInt64
    /// Its bytes lie in one piece.
    let text: String

    static let byteCounts = 1...1_024
    private static var startCount: Int { 32 }

    /// - Throws: `.invalidKey`, with the key.
    init(_ text: String) throws(CacheError) {
        var text = text
        let count = text.utf8.count
        guard Self.byteCounts.contains(count) else {
            throw CacheError(.invalidKey, "a key is 1 to 1,024 UTF-8 bytes long, not \(count)", key: text)
        }
        (start, hash) = text.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            return (KeyHash.start(bytes), KeyHash.hash(bytes))
        }
        self.text = text
    }

    /// The keys of one call, each once, and for each text the place of its key.
    ///
    /// - Throws: `.invalidKey`, also where two are the same text to Swift in different bytes: results are found by
    ///   text, and could not tell them apart.
    static func distinct(_ texts: [String]) throws(CacheError) -> (keys: [EntryKey], places: [Int]) {
        var keys: [EntryKey] = []
        keys.reserveCapacity(texts.count)
        var isASCII = true
        for text in texts {
            let key = try EntryKey(text)
            isASCII = isASCII && key.text.utf8.allSatisfy { $0 < 0x80 }
            keys.append(key)
        }
        var places = keys.firstPlaces()
        if places.indices.contains(where: { places[$0] != $0 }) {
            let all = keys
            keys.removeAll(keepingCapacity: true)
            for index in places.indices {
                // The first one of its text comes before the others.
                let first = places[index]
                places[index] = first == index ? keys.count : places[first]
                if first == index { keys.append(all[index]) }
            }
        }
        // Different bytes of ASCII alone are different texts.
        guard isASCII || Set(keys.map(\.text)).count == keys.count else {
            throw CacheError(.invalidKey, "two of the keys are the same text in different bytes")
        }
        return (keys, places)
    }

    static func == (left: EntryKey, right: EntryKey) -> Bool {
        let count = left.text.utf8.count
        guard left.hash == right.hash, left.start == right.start, count == right.text.utf8.count else {
            return false
        }
        return count <= startCount || left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension [EntryKey] {
    /// For each key the place of the first one that is equal to it.
    func firstPlaces() -> [Int] {
        // Open addressing; the hash has a seed of its own in each process.
        var mask = 15
        while mask < count * 2 { mask = mask << 1 | 1 }
        var slots = [Int32](repeating: -1, count: mask + 1)
        return indices.map { index in
            var slot = Int(truncatingIfNeeded: self[index].hash) & mask
            while slots[slot] >= 0 {
                if self[Int(slots[slot])] == self[index] { return Int(slots[slot]) }
                slot = (slot + 1) & mask
            }
            slots[slot] = Int32(truncatingIfNeeded: index)
            return index
        }
    }
}

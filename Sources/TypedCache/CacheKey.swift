import Foundation

/// What an entry is saved under.
///
/// Keys are strings of 1 to 1,024 UTF-8 bytes, any characters, compared byte by byte. Other types say which
/// string they are:
///
/// ```swift
/// enum Place: String, CacheKey { case home, work }
/// ```
public protocol CacheKey {
    /// The key as a string. Equal keys must give equal strings, unequal ones unequal strings.
    var cacheKey: String { get }
}

extension String: CacheKey {
    public var cacheKey: String { self }
}

extension Substring: CacheKey {
    public var cacheKey: String { String(self) }
}

/// The number in decimal: `42` and `"42"` are one key.
extension Int: CacheKey {
    public var cacheKey: String { String(self) }
}

/// The UUID in its usual form, in capital letters.
extension UUID: CacheKey {
    public var cacheKey: String { uuidString }
}

extension CacheKey where Self: RawRepresentable, RawValue == String {
    public var cacheKey: String { rawValue }
}

/// A key's bytes: what makes two keys one.
///
/// `String`'s own equality takes some different byte sequences as the same text.
struct EntryKey: Hashable, Sendable {
    /// Its bytes lie in one piece.
    let text: String
    let hash: UInt64

    static let byteCounts = 1...1_024

    /// - Throws: `.invalidKey`.
    init(_ text: String) throws(CacheError) {
        var text = text
        let hash = text.withUTF8 { bytes in
            Self.byteCounts.contains(bytes.count) ? KeyHash.hash(UnsafeRawBufferPointer(bytes)) : nil
        }
        guard let hash else {
            throw CacheError(.invalidKey, "a key is 1 to 1,024 UTF-8 bytes long, not \(text.utf8.count)")
        }
        self.text = text
        self.hash = hash
    }

    static func == (left: EntryKey, right: EntryKey) -> Bool {
        let same = left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { right -> Bool in
                guard let start = left.baseAddress, let other = right.baseAddress else { return left.isEmpty }
                return left.count == right.count && memcmp(start, other, left.count) == 0
            }
        }
        return (same ?? nil) ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

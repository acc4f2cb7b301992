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
    let text: String

    static let byteCounts = 1...1_024

    /// - Throws: `.invalidKey`.
    init(_ text: String) throws(CacheError) {
        guard Self.byteCounts.contains(text.utf8.count) else {
            throw CacheError(.invalidKey, "a key is 1 to 1,024 UTF-8 bytes long, not \(text.utf8.count)")
        }
        self.text = text
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

    func hash(into hasher: inout Hasher) {
        let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if hashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}

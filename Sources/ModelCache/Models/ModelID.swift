import Foundation
import TypedCache

/// The identity of a model: a key of a cache that can be made of its text again.
///
/// Identities that are equal to Swift are one, in memory and on disk: so are two texts that are canonically equivalent, as
/// "é" in one scalar and in two. The server is asked with the text that the program has, or the list.
///
/// `String`, `Int` and `UUID` are identities, and so are enumerations and structures with a raw value of one of these that
/// declare the conformance:
///
/// ```swift
/// struct Handle: RawRepresentable, Codable, ModelID { let rawValue: String }
/// ```
public protocol ModelID: CacheKey, Codable {
    /// The identity whose `cacheKey` is `text`; `nil` if no identity has this text.
    init?(cacheKey text: String)
}

extension String: ModelID {
    /// The text itself.
    public init?(cacheKey text: String) { self = text }
}

extension Int: ModelID {
    /// The number that the text has in decimal; `nil` for any other text.
    public init?(cacheKey text: String) { self.init(text) }
}

extension UUID: ModelID {
    /// The UUID in its usual form; `nil` for any other text.
    public init?(cacheKey text: String) { self.init(uuidString: text) }
}

extension ModelID where Self: RawRepresentable, RawValue: ModelID {
    /// The identity whose raw value has the text; `nil` if there is none.
    public init?(cacheKey text: String) {
        guard let value = RawValue(cacheKey: text) else { return nil }
        self.init(rawValue: value)
    }
}

import Foundation

/// A value and its entry's dates and tags, expired or not.
public struct StoredValue<Value> {
    /// The value that was saved.
    public let value: Value
    /// When it was saved.
    public let storedAt: Date
    /// When it expires, or has expired; `nil` means never. For an idle expiration that may lag behind its last reading.
    public let expiresAt: Date?
    /// Whether it has expired, and is kept for its stale windows only.
    public let isExpired: Bool
    /// The groups that the entry belongs to.
    public let tags: Set<String>

    /// Makes a value as ``Cache/stored(forKey:)`` returns it: for tests, and for types that replace a cache.
    public init(
        value: Value,
        storedAt: Date,
        expiresAt: Date? = nil,
        isExpired: Bool = false,
        tags: Set<String> = []
    ) {
        self.value = value
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.isExpired = isExpired
        self.tags = tags
    }
}

extension StoredValue: Sendable where Value: Sendable {}

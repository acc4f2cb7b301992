import Foundation

/// What memory holds under a key.
///
/// Unchecked: immutable but for the value in a `ValueEntry`, and a cache of values that are not Sendable is not
/// Sendable itself, so they stay with the one thread or actor that has the cache.
class MemoryEntry: @unchecked Sendable {
    /// Seconds since 2001-01-01 UTC; infinity for never.
    let deadline: TimeInterval

    init(deadline: TimeInterval) { self.deadline = deadline }
}

/// A value as it was saved or decoded.
final class ValueEntry<Value>: MemoryEntry, @unchecked Sendable {
    let value: Value

    init(_ value: Value, deadline: TimeInterval) {
        self.value = value
        super.init(deadline: deadline)
    }
}

/// The archive of an object of a class: decoded anew at each fetch, so that no caller can change what another
/// one gets.
final class ArchiveEntry: MemoryEntry, @unchecked Sendable {
    let archive: [UInt8]

    init(_ archive: [UInt8], deadline: TimeInterval) {
        self.archive = archive
        super.init(deadline: deadline)
    }
}

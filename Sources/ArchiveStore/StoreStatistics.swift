/// What a store takes, and what it has written since it was opened.
package struct StoreStatistics: Sendable {
    package var entryCount = 0
    /// Of what entries take, keys and heads included.
    package var entryByteCount = 0
    /// Of all files that count for the limit, dead bytes included.
    package var byteCount = 0
    /// How many files that are.
    package var fileCount = 0
    /// What was written of entries, and of what happened to them.
    package var appendedByteCount = 0
    /// Of what was written, what had been written before, and was written anew to make room.
    package var carriedByteCount = 0
}

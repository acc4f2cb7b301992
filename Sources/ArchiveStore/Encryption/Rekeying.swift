/// How far the entries of a store with a former key have been written again with the current one.
package struct Rekeying: Sendable, Equatable {
    /// The entries that were written again.
    package var entryCount = 0
    /// The bytes of their records.
    package var byteCount = 0
    /// The bytes of all records that are to be written again.
    package var totalByteCount = 0
    /// The identifiers of former keys that files have at the end: none, unless another process still saves with one.
    package var formerKeys: Set<UInt64> = []

    package init() {}
}

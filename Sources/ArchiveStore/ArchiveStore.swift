import Foundation

/// Archives on a device, each under a key. Knows bytes, neither values nor when an entry is too old to be
/// used.
///
/// Every function may be called from any thread and may block on I/O. What `save` returned from is what
/// `fetch` gives, to this and every later user of the same place, until it is removed or saved over.
///
/// A key is 1 to 1,024 UTF-8 bytes, any characters; keys are equal if their bytes are. (Swift's `==` on
/// strings also takes the composed and the decomposed form of a character as equal; a store does not.) Every
/// function that takes a key throws `.invalidArgument` for any other, and `.io` if the device fails.
package protocol ArchiveStore: Sendable {
    /// Saves `archive` for `key`, in place of what was there.
    ///
    /// Whoever fetches at any instant, or after this process was killed at any instant, gets either the whole
    /// old archive or the whole new one.
    ///
    /// - Parameter expiresAt: Kept and given back, never acted on. `nil` means never.
    /// - Throws: `.tooLarge` beyond the store's limit, `.io`. What was there before is then still there.
    func save(
        _ archive: [UInt8],
        forKey key: String,
        storedAt: Date,
        expiresAt: Date?
    ) throws(StoreError)

    /// Returns what was saved for `key`; `nil` if there is nothing.
    ///
    /// - Throws: `.corrupted` if the entry is damaged, after it was taken out of the way: the next fetch
    ///   gives `nil`.
    func fetch(forKey key: String) throws(StoreError) -> StoredArchive?

    /// As ``fetch(forKey:)``, checks included, but the archive is not inflated.
    func information(forKey key: String) throws(StoreError) -> EntryInformation?

    /// Removes what was saved for `key`, and says whether there was anything.
    @discardableResult
    func remove(forKey key: String) throws(StoreError) -> Bool

    /// Removes this very entry if it is still there, and says so. One that was saved over it meanwhile stays.
    @discardableResult
    func remove(_ entry: EntryInformation) throws(StoreError) -> Bool

    /// Removes every entry that is there when the call starts.
    func removeAll() throws(StoreError)

    /// Removes every damaged entry and returns their number.
    @discardableResult
    func removeDamagedEntries() throws(StoreError) -> Int

    /// Gives each entry to `body`, or why it cannot be read, until `body` returns `false`.
    ///
    /// In no order. What is saved or removed meanwhile may or may not be given; all else is, once. `body` may
    /// call the store. Damaged entries are given as `.corrupted` and left alone.
    ///
    /// - Complexity: O(*n*) in the bytes of all entries, since each one's checksum is checked; memory does
    ///   not grow with them.
    func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError)
}

import ArchiveStore
import Foundation

// For tools that check, move and tidy up a cache without knowing the types in it.

extension Cache {
    /// In how many parts the entries can be gone through.
    package var partCount: Int { core.store.partCount }

    /// The entries of one part, expired or not, or why one cannot be read. Blocks on disk I/O.
    package func entries(inPart part: Int) throws(CacheError) -> [Result<EntryInformation, CacheError>] {
        do throws(StoreError) {
            return try core.store.entries(inPart: part).map { entry in entry.mapError { core.failure($0) } }
        } catch {
            throw core.failure(error)
        }
    }

    /// Reads an entry, expired or not, and gives its archive to `body` in pieces, until that returns `false`. Changes
    /// nothing, even if the entry is damaged. Blocks on disk I/O.
    ///
    /// - Returns: `nil` if there is no entry.
    /// - Throws: `.corrupted` for a damaged entry, which stays where it is, `.unsupportedVersion`, `.tooLarge`, `.io`;
    ///   some pieces may have been given before.
    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(CacheError) -> EntryInformation? {
        let key = try entryKey(key)
        do throws(StoreError) {
            return try core.store.peek(forKey: key.text, pieces: body)
        } catch {
            throw core.failure(error, key)
        }
    }

    /// Saves an archive as it is, with its attributes.
    ///
    /// - Parameters:
    ///   - attributes: their tags in any order.
    ///   - replaces: whether an entry that has not expired is replaced.
    /// - Returns: whether it was saved.
    /// - Throws: `.invalidKey`, `.invalidTag`, `.tooLarge`, `.io`; the entry that the key had before is then still
    ///   there.
    package func save(
        archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        replaces: Bool
    ) throws(CacheError) -> Bool {
        let key = try entryKey(key)
        let attributes = try attributes.checked()
        let now = core.clock.now
        let isWanted = { (former: EntryInformation?) in former?.expiresAt.map { $0 <= now } ?? (former == nil) }
        do throws(StoreError) {
            let saved = try core.store.save(
                archive,
                forKey: key.text,
                attributes: attributes,
                if: replaces ? nil : isWanted
            )
            guard saved != nil else { return false }
        } catch {
            throw core.failure(error, key)
        }
        core.invalidate(key)
        return true
    }

    /// Removes this very entry if it is still there, and says so.
    package func remove(_ entry: EntryInformation) throws(CacheError) -> Bool {
        try core.remove(EntryKey(entry.key), ifStill: entry)
    }

    /// Removes every damaged entry, and returns their number.
    package func removeDamagedEntries() throws(CacheError) -> Int {
        do throws(StoreError) {
            return try core.store.removeDamagedEntries()
        } catch {
            throw core.failure(error)
        }
    }

    /// Gives back the space of entries that were removed or saved over, and returns how many bytes that was.
    package func compact() throws(CacheError) -> Int {
        do throws(StoreError) {
            return try core.store.compact()
        } catch {
            throw core.failure(error)
        }
    }

    /// How many bytes all files in the cache's directory hold, also those that hold no entries.
    ///
    /// - Complexity: O(*n*) in the number of files.
    package func byteCountOfFiles() -> Int {
        guard let directory else { return 0 }
        // No link is followed, and a file that is removed meanwhile counts as empty.
        let files = FileManager.default.enumerator(atPath: directory.path(percentEncoded: false))
        var count = 0
        while files?.nextObject() != nil {
            guard let file = files?.fileAttributes, file[.type] as? FileAttributeType == .typeRegular else {
                continue
            }
            count += (file[.size] as? NSNumber)?.intValue ?? 0
        }
        return count
    }
}

extension EntryAttributes {
    /// As a cache takes them: with their tags in order, each once.
    ///
    /// - Throws: `.invalidTag`.
    package func checked() throws(CacheError) -> EntryAttributes {
        var attributes = self
        attributes.tags = try EntryTags.check(tags)
        return attributes
    }
}

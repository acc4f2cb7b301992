import ArchiveStore
import Foundation

/// A cache's store of bytes alone, without values and without compression: for measuring the cost of the store itself.
///
/// Not for applications: no check is made of the archives that are saved here.
@_spi(Measuring)
public final class MeasuredStore: Sendable {
    private let packed: PackedStore?
    private let files: FileStore?

    /// Opens the store in `directory`, which is its own, or makes it.
    ///
    /// - Parameters:
    ///   - directory: as a cache's own directory, with no name behind it.
    ///   - disk: ``DiskSettings/writing`` is taken to be `.through`.
    /// - Throws: `.invalidDirectory` and `.unsupportedVersion` as a cache does, `.io`.
    public init(directory: URL, disk: DiskSettings = DiskSettings()) throws(CacheError) {
        do throws(StoreError) {
            let store = try CacheDirectory.store(directory.path(percentEncoded: false), create: true, disk)
            packed = store as? PackedStore
            files = store as? FileStore
        } catch {
            throw CacheError(error)
        }
    }

    /// Saves an archive that is compressed already.
    ///
    /// - Parameters:
    ///   - stream: a zlib stream without a preset dictionary. It is not looked at.
    ///   - archiveByteCount: how many bytes it holds.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: `.invalidKey`, `.tooLarge`, `.io`.
    public func save(stream: [UInt8], archiveByteCount: Int, forKey key: String) throws(CacheError) {
        do throws(StoreError) {
            let attributes = EntryAttributes(storedAt: .now)
            if let packed {
                try packed.save(
                    stream: stream,
                    archiveByteCount: archiveByteCount,
                    forKey: key,
                    attributes: attributes
                )
            } else {
                try files?.save(
                    stream: stream,
                    archiveByteCount: archiveByteCount,
                    forKey: key,
                    attributes: attributes
                )
            }
        } catch {
            throw CacheError(error)
        }
    }

    /// The zlib stream that was saved for a key, all checks made but those that inflating makes; `nil` if there is
    /// none.
    ///
    /// - Throws: `.corrupted` if it is damaged, `.invalidKey`, `.io`.
    public func fetch(forKey key: String) throws(CacheError) -> ArraySlice<UInt8>? {
        do throws(StoreError) {
            if let packed { return try packed.fetchStream(forKey: key)?.stream }
            return try files?.fetchStream(forKey: key)?.stream
        } catch {
            throw CacheError(error)
        }
    }

    /// Removes the entry for a key, if there is one.
    ///
    /// - Throws: `.invalidKey`, `.io`.
    public func remove(forKey key: String) throws(CacheError) {
        do throws(StoreError) {
            try packed?.remove(forKey: key)
            try files?.remove(forKey: key)
        } catch {
            throw CacheError(error)
        }
    }

    /// The space that a store takes, and the bytes that it has written since it was opened.
    public struct Statistics: Sendable {
        public let entryCount: Int
        /// The bytes of entries, with keys and heads.
        public let entryByteCount: Int
        /// The bytes of all segments, dead bytes included, which a limit counts.
        public let byteCount: Int
        public let segmentCount: Int
        /// The bytes that were appended to segments, headers apart.
        public let appendedByteCount: Int
        /// The appended bytes that had been appended before, and were written anew to make room.
        public let carriedByteCount: Int
    }

    /// Looks for all entries, so that all of the index is in memory; `nil` if each entry has a file of its own.
    ///
    /// - Throws: `.io`.
    /// - Complexity: O(*n*) in the entries at first, then O(1).
    public func statistics() throws(CacheError) -> Statistics? {
        do throws(StoreError) {
            guard let found = try packed?.statistics() else { return nil }
            return Statistics(
                entryCount: found.entryCount,
                entryByteCount: found.entryByteCount,
                byteCount: found.byteCount,
                segmentCount: found.fileCount,
                appendedByteCount: found.appendedByteCount,
                carriedByteCount: found.carriedByteCount
            )
        } catch {
            throw CacheError(error)
        }
    }
}

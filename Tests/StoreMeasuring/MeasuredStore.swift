import ArchiveStore
import Foundation
import Sealing

/// A cache's store on disk alone, without values and compression: to measure the cost of the store itself.
///
/// Its streams are not checked: a cache may find out later that they are none.
public struct MeasuredStore: Sendable {
    public enum Layout: Sendable {
        case packed, files
    }

    private enum Store: Sendable {
        case packed(PackedStore)
        case files(FileStore)
    }

    private let store: Store

    /// Whether this build can encrypt stores.
    public static var canBeEncrypted: Bool { CipherAlgorithm.isAvailable }

    /// Opens the store in a directory of its own, or makes it, with the settings of a cache by default.
    ///
    /// - Parameters:
    ///   - waitsForDevice: whether a save returns only when the device has it.
    ///   - byteLimit: the most bytes of entries; `nil` for no limit.
    ///   - isEncrypted: whether its files are encrypted, with a key that is always the same.
    /// - Throws: the errors of opening a store.
    public init(
        directory: URL,
        layout: Layout,
        waitsForDevice: Bool = false,
        byteLimit: Int? = nil,
        isEncrypted: Bool = false
    ) throws {
        var settings = StoreSettings()
        settings.durability = waitsForDevice ? .power : .process
        settings.byteLimit = byteLimit
        if isEncrypted { settings.keys = KeyProvider { try Self.keys() } }
        let path = directory.path(percentEncoded: false)
        switch layout {
        case .packed: store = .packed(try PackedStore(directory: path, create: true, settings: settings))
        case .files: store = .files(try FileStore(directory: path, create: true, settings: settings))
        }
    }

    private struct NoKey: Error {}

    private static func keys() throws -> SealingKeys {
        let bytes = SecretBytes(0..<UInt8(AuthenticatedCipher.keyByteCount))
        guard let key = SealingKey(identifier: 1, bytes) else { throw NoKey() }
        return SealingKeys(current: key)
    }

    /// Saves an archive that is compressed already.
    ///
    /// - Parameters:
    ///   - stream: a zlib stream without a preset dictionary.
    ///   - archiveByteCount: the archive's length.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    public func save(stream: [UInt8], archiveByteCount: Int, forKey key: String) throws {
        let attributes = EntryAttributes(storedAt: .now)
        switch store {
        case .packed(let store):
            try store.save(stream: stream, archiveByteCount: archiveByteCount, forKey: key, attributes: attributes)
        case .files(let store):
            try store.save(stream: stream, archiveByteCount: archiveByteCount, forKey: key, attributes: attributes)
        }
    }

    /// The zlib stream that was saved for a key, after all checks that need no inflating; `nil` if there is none.
    public func fetch(forKey key: String) throws -> ArraySlice<UInt8>? {
        switch store {
        case .packed(let store): try store.fetchStream(forKey: key)?.stream
        case .files(let store): try store.fetchStream(forKey: key)?.stream
        }
    }

    /// Removes the entry for a key, if there is one.
    public func remove(forKey key: String) throws {
        switch store {
        case .packed(let store): try store.remove(forKey: key)
        case .files(let store): try store.remove(forKey: key)
        }
    }

    /// The entries of a packed store, and the bytes that it has written since it was opened.
    public struct Statistics: Sendable {
        public let entryCount: Int
        /// The bytes that were appended to segments, headers apart.
        public let appendedByteCount: Int
        /// The appended bytes that had been appended before, and were rewritten to make room.
        public let carriedByteCount: Int
    }

    /// Loads the whole index; `nil` if each entry has a file of its own.
    ///
    /// - Complexity: O(*n*) in the entries at first, then O(1).
    public func statistics() throws -> Statistics? {
        guard case .packed(let store) = store else { return nil }
        let statistics = try store.statistics()
        return Statistics(
            entryCount: statistics.entryCount,
            appendedByteCount: statistics.appendedByteCount,
            carriedByteCount: statistics.carriedByteCount
        )
    }
}

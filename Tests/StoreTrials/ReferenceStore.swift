package import ArchiveStore
package import Foundation
import Synchronization

/// A store in memory, so simple that it is right: the laws are tried on it first.
package final class ReferenceStore: ArchiveStore {
    private struct State {
        var entries: [[UInt8]: StoredArchive] = [:]
        var saves: UInt64 = 0

        mutating func identity() -> EntryIdentity {
            saves += 1
            return EntryIdentity(volume: 0, file: saves, checksum: 0)
        }
    }

    private let state = Mutex(State())

    package init() {}

    private func bytes(_ key: String) throws(StoreError) -> [UInt8] {
        let bytes = Array(key.utf8)
        guard (1...1024).contains(bytes.count) else {
            throw StoreError(.invalidArgument, action: "taking a key", reason: "its length")
        }
        return bytes
    }

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let bytes = try bytes(key)
        return state.withLock { state in
            guard condition?(state.entries[bytes]?.information) ?? true else { return nil }
            let information = EntryInformation(
                key: key,
                attributes: attributes,
                archiveByteCount: archive.count,
                storedByteCount: archive.count + bytes.count,
                identity: EntryIdentity(attributes) ?? state.identity()
            )
            state.entries[bytes] = StoredArchive(archive: archive, information: information)
            return information
        }
    }

    package func moveDeadline(
        of entry: EntryInformation,
        to date: Date?
    ) throws(StoreError) -> EntryInformation? {
        guard let stored = try fetch(forKey: entry.key) else { return nil }
        var attributes = stored.information.attributes
        attributes.expiresAt = date
        return try save(stored.archive, forKey: entry.key, attributes: attributes) {
            $0?.identity == entry.identity
        }
    }

    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let bytes = try bytes(key)
        return state.withLock { $0.entries[bytes] }
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try fetch(forKey: key)?.information
    }

    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let bytes = try bytes(key)
        return state.withLock { $0.entries.removeValue(forKey: bytes) } != nil
    }

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let bytes = try bytes(entry.key)
        return state.withLock { state in
            guard state.entries[bytes]?.information.identity == entry.identity else { return false }
            state.entries[bytes] = nil
            return true
        }
    }

    package func removeAll() throws(StoreError) {
        state.withLock { $0.entries = [:] }
    }

    package func removeDamagedEntries() throws(StoreError) -> Int { 0 }

    package func forEachEntry(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        for entry in state.withLock({ Array($0.entries.values) }) {
            guard body(.success(entry.information)) else { return }
        }
    }
}

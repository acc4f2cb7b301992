import Foundation
import Synchronization

@testable import ArchiveStore

/// A store in memory, so simple that it is right: what the laws are checked against themselves with.
final class ReferenceStore: ArchiveStore {
    private struct State {
        var entries: [[UInt8]: StoredArchive] = [:]
        var saves: UInt64 = 0
    }

    private let state = Mutex(State())

    private func bytes(_ key: String) throws(StoreError) -> [UInt8] {
        let bytes = Array(key.utf8)
        guard (1...1024).contains(bytes.count) else {
            throw StoreError(.invalidArgument, action: "taking a key", reason: "its length")
        }
        return bytes
    }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        storedAt: Date,
        expiresAt: Date?
    ) throws(StoreError) {
        let bytes = try bytes(key)
        state.withLock { state in
            state.saves += 1
            let information = EntryInformation(
                key: key,
                storedAt: storedAt,
                expiresAt: expiresAt,
                archiveByteCount: archive.count,
                storedByteCount: archive.count + bytes.count,
                identity: EntryIdentity(volume: 0, file: state.saves, checksum: 0)
            )
            state.entries[bytes] = StoredArchive(archive: archive, information: information)
        }
    }

    func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let bytes = try bytes(key)
        return state.withLock { $0.entries[bytes] }
    }

    func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try fetch(forKey: key)?.information
    }

    func remove(forKey key: String) throws(StoreError) -> Bool {
        let bytes = try bytes(key)
        return state.withLock { $0.entries.removeValue(forKey: bytes) } != nil
    }

    func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let bytes = try bytes(entry.key)
        return state.withLock { state in
            guard state.entries[bytes]?.information == entry else { return false }
            state.entries[bytes] = nil
            return true
        }
    }

    func removeAll() throws(StoreError) {
        state.withLock { $0.entries = [:] }
    }

    func removeDamagedEntries() throws(StoreError) -> Int { 0 }

    func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        for entry in state.withLock({ Array($0.entries.values) }) {
            guard body(.success(entry.information)) else { return }
        }
    }
}

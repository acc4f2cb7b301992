import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let key = try StoreKey(key)
        guard let (name, bytes) = try read(key) else { return nil }
        do throws(StoreError) {
            return try archive(in: bytes, of: key, named: name)
        } catch {
            // Taken out of the way, if it is still the same.
            if error.code == .corrupted {
                _ = try engine.ask(
                    [EntryScript(name: name).remove(ifEnding: bytes.suffix(EntryEnd.byteCount))],
                    action: Self.reading
                )
            }
            throw error
        }
    }

    package func fetch(forKeys keys: [String]) async -> [Result<StoredArchive?, StoreError>] {
        var results: [Result<StoredArchive?, StoreError>] = []
        results.reserveCapacity(keys.count)
        // Answers of no more at once are in memory before they are read.
        for start in stride(from: 0, to: keys.count, by: Self.fetchedAtOnce) {
            let some = Array(keys[start..<min(start + Self.fetchedAtOnce, keys.count)])
            do throws(StoreError) {
                results += try await fetchAtOnce(some)
            } catch {
                results += some.map { _ in .failure(error) }
            }
        }
        return results
    }

    private static let fetchedAtOnce = 128

    private func fetchAtOnce(_ keys: [String]) async throws(StoreError) -> [Result<StoredArchive?, StoreError>] {
        let keys = try keys.map { key throws(StoreError) in try StoreKey(key) }
        let isOwed = keys.map { debts.isOwed($0) }
        if isOwed.allSatisfy({ $0 }) { return keys.map { _ in .success(nil) } }
        let (generation, values) = try await insistSuspending(Self.reading) {
            generation throws(StoreError) -> Attempt<(Generation, [RedisValue])> in
            let commands = keys.map { RedisCommand(["GET", .text(names.entry($0.string, generation))]) }
            let values = try await request(commands, in: generation, action: Self.reading)
            return values.map { .done((generation, $0)) } ?? .repeated
        }
        var results: [Result<StoredArchive?, StoreError>] = []
        for (index, key) in keys.enumerated() {
            let value = values[index]
            let name = names.entry(key.string, generation)
            do throws(StoreError) {
                let bytes = isOwed[index] || debts.isOwed(key) ? nil : try bytes(value, Self.reading)
                results.append(
                    .success(
                        try bytes.map { bytes throws(StoreError) in
                            try archive(in: bytes, of: key, named: name)
                        }
                    )
                )
            } catch {
                if error.code == .corrupted, let bytes = value.bytes {
                    await takeAway(name, ending: bytes.suffix(EntryEnd.byteCount))
                }
                results.append(.failure(error))
            }
        }
        return results
    }

    /// Removes a damaged entry, if it is still the same.
    private func takeAway(_ name: String, ending end: ArraySlice<UInt8>) async {
        let removal = EntryScript(name: name).remove(ifEnding: Array(end))
        do throws(StoreError) {
            _ = try await engine.request([removal], action: Self.reading)
        } catch {
            // The next fetch finds it again.
        }
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        guard let (name, bytes) = try read(key) else { return nil }
        let stored = try archive(in: bytes, of: key, named: name)
        _ = body(stored.archive)
        return stored.information
    }

    /// The bytes of an entry and its name in the engine.
    private func read(_ key: StoreKey) throws(StoreError) -> (name: String, bytes: [UInt8])? {
        if debts.isOwed(key) { return nil }
        return try insist(Self.reading) { generation throws(StoreError) -> Attempt<(String, [UInt8])?> in
            let name = names.entry(key.string, generation)
            guard let values = try ask([["GET", .text(name)]], in: generation, action: Self.reading) else {
                return .repeated
            }
            return .done(try bytes(values[0], Self.reading).map { (name, $0) })
        }
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        if debts.isOwed(key) { return nil }
        return try insist(Self.reading) { generation throws(StoreError) -> Attempt<EntryInformation?> in
            try look(at: key, in: generation, Self.reading).map { .done($0.information) } ?? .repeated
        }
    }

    private static let reading = "reading an entry"

    /// An entry as its last bytes show it.
    struct Seen {
        let generation: Generation
        let name: String
        /// The last 59 bytes of what is there; fewer of something shorter, none if nothing is there.
        let end: [UInt8]
        let information: EntryInformation?
    }

    /// Looks at an entry without reading its archive.
    ///
    /// - Throws: `.foreign` and `.corrupted` are no errors here: such an entry has no information.
    func look(at key: StoreKey, in generation: Generation, _ action: String) throws(StoreError) -> Seen? {
        let name = names.entry(key.string, generation)
        let last: RedisCommand = ["GETRANGE", .text(name), .integer(-EntryFile.largestTailByteCount), -1]
        guard let values = try ask([last, ["STRLEN", .text(name)]], in: generation, action: action) else {
            return nil
        }
        do throws(StoreError) {
            guard let tail = try bytes(values[0], action), let length = values[1].integer else {
                return Seen(generation: generation, name: name, end: [], information: nil)
            }
            let end = [UInt8](tail.suffix(EntryEnd.byteCount))
            return Seen(
                generation: generation,
                name: name,
                end: end,
                information: try? information(tail, byteCount: Int(length), of: key, named: name)
            )
        } catch {
            guard error.code == .foreign else { throw error }
            return Seen(generation: generation, name: name, end: [], information: nil)
        }
    }

    // MARK: Bytes of the engine

    /// The bytes of an answer; `nil` if there is nothing, which `GETRANGE` answers by no bytes.
    func bytes(_ value: RedisValue, _ action: String) throws(StoreError) -> [UInt8]? {
        try Engine.check(value, doing: action)
        guard let bytes = value.bytes, !bytes.isEmpty else { return nil }
        return bytes
    }

    private func archive(
        in bytes: [UInt8],
        of key: StoreKey,
        named name: String
    ) throws(StoreError) -> StoredArchive {
        let limit = Self.archiveByteLimit
        let file = try checked(bytes, name) { () throws(EntryFault) in
            try EntryFile(verifying: bytes)
        }
        let information = try information(file, byteCount: bytes.count, of: key, named: name)
        let archive = try checked(bytes, name) { () throws(EntryFault) in try file.archive(limit: limit) }
        return StoredArchive(archive: archive, information: information)
    }

    /// The information of an entry, of which only the last bytes are known.
    func information(
        _ tail: [UInt8],
        byteCount: Int,
        of key: StoreKey,
        named name: String
    ) throws(StoreError) -> EntryInformation {
        let file = try checked(tail, name) { () throws(EntryFault) in
            try EntryFile(tail: tail, fileByteCount: byteCount, checksum: nil)
        }
        return try information(file, byteCount: byteCount, of: key, named: name)
    }

    private func information(
        _ file: EntryFile,
        byteCount: Int,
        of key: StoreKey,
        named name: String
    ) throws(StoreError) -> EntryInformation {
        guard file.holds(key), let identity = EntryIdentity(file.attributes) else {
            let reason = "the entry is another key's, or was not saved for a server"
            throw StoreError(.foreign, path: name, action: Self.reading, reason: reason)
        }
        return EntryInformation(
            key: key.string,
            attributes: offset.here(file.attributes),
            archiveByteCount: file.archiveByteCount,
            storedByteCount: byteCount,
            identity: identity
        )
    }

    /// - Throws: `.foreign` for bytes that do not end as an entry does.
    private func checked<Result>(
        _ bytes: [UInt8],
        _ name: String,
        _ body: () throws(EntryFault) -> Result
    ) throws(StoreError) -> Result {
        guard EntryFile.isEntry(bytes) else {
            throw StoreError(.foreign, path: name, action: Self.reading, reason: "it does not end as an entry does")
        }
        do throws(EntryFault) {
            return try body()
        } catch {
            throw error.error(path: name, limit: Self.archiveByteLimit)
        }
    }
}

import ArchiveStore
import Foundation

extension TieredStore {
    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        try shared.checkUsable()
        // Copies have the server's time, too.
        _ = try shared.knownClock()
        let reading = Reading(try StoreKey(key), self)
        let copy = copy(reading.key, reading.digest)
        if let copy {
            if isVerified(copy, reading.digest) { return used(copy) }
            if try shared.compare(reading.known(copy)) {
                reading.end(verified: copy.information.identity.version)
                return used(copy)
            }
        }
        let stored = try shared.fetch(forKey: key, EngineClock())
        reading.find(stored)
        changeCopies(stored?.archive.count ?? 0) { reading.keep(stored, inPlaceOf: copy) }
        return stored.map { here($0) }
    }

    /// A copy that is the server's entry.
    private func used(_ copy: StoredArchive) -> StoredArchive {
        shared.engine.counters.count { $0.nearHits += 1 }
        return here(copy, isCopy: true)
    }

    package func fetch(
        forKeys keys: [String],
        isUrgent: Bool,
        mayBeOlder: Bool
    ) async -> [Result<StoredArchive?, StoreError>] {
        do throws(StoreError) {
            // Copies have the server's time, too.
            _ = try await shared.knownClock(isUrgent: isUrgent)
        } catch {
            return keys.map { _ in .failure(error) }
        }
        var results: [Result<StoredArchive?, StoreError>?] = []
        var readings: [(place: Int, reading: Reading)] = []
        for (place, key) in keys.enumerated() {
            do throws(StoreError) {
                try shared.checkUsable()
                readings.append((place, Reading(try StoreKey(key), self)))
                results.append(nil)
            } catch {
                results.append(.failure(error))
            }
        }
        let all = readings
        let copies = await onQueue { [self] in all.map { copy($0.reading.key, $0.reading.digest) } }
        var doubtful: [(place: Int, reading: Reading, copy: StoredArchive)] = []
        var missing: [(place: Int, reading: Reading, copy: StoredArchive?)] = []
        for ((place, reading), copy) in zip(readings, copies) {
            guard let copy else {
                missing.append((place, reading, nil))
                continue
            }
            if isVerified(copy, reading.digest) {
                results[place] = .success(used(copy))
            } else {
                doubtful.append((place, reading, copy))
            }
        }
        let known = doubtful.map { $0.reading.known($0.copy) }
        let answers = known.isEmpty ? [] : await shared.compare(known, isUrgent: isUrgent)
        for ((place, reading, copy), answer) in zip(doubtful, answers) {
            switch answer {
            case .success(true):
                reading.end(verified: copy.information.identity.version)
                results[place] = .success(used(copy))
            case .success(false): missing.append((place, reading, copy))
            case .failure(let error): results[place] = .failure(error)
            }
        }
        if !missing.isEmpty {
            let wanted = missing.map(\.reading.key.string)
            let found = await shared.fetch(forKeys: wanted, isUrgent: isUrgent, EngineClock())
            for ((place, reading, _), result) in zip(missing, found) {
                if case .success(let stored) = result { reading.find(stored) }
                results[place] = result.map { stored in stored.map { here($0) } }
            }
            let new = missing
            // Not waited for: until it is done, the entry has no copy that counts.
            let byteCount = found.reduce(0) { $0 + ((try? $1.get())?.archive.count ?? 0) }
            changeCopies(byteCount) {
                for ((_, reading, copy), result) in zip(new, found) { reading.keep(result, inPlaceOf: copy) }
            }
        }
        return results.map { $0 ?? .success(nil) }
    }

    /// A reading of a key's entry, which ends with this object if not before.
    final class Reading: Sendable {
        let key: StoreKey
        let digest: KeyDigest
        private let store: TieredStore
        private let start: NearCopies.Start

        init(_ key: StoreKey, _ store: TieredStore) {
            self.key = key
            self.store = store
            let digest = store.digest(of: key.string)
            self.digest = digest
            let isHeard = store.isHearing
            start = store.withCopies { $0.beginRead(digest, isHeard: isHeard) }
        }

        deinit { store.withCopies { $0.endRead(digest, start, verified: nil) } }

        func known(_ copy: StoredArchive) -> KnownEntry {
            KnownEntry(key: key.string, version: copy.information.identity.version)
        }

        /// The server has this entry, or none, which a caller is about to be given.
        func find(_ stored: StoredArchive?) {
            let version = stored?.information.identity.version ?? 0
            store.withCopies { $0.find(digest, version) }
        }

        /// A copy of this version is the server's entry, as far as this reading knows.
        func end(verified version: UInt64) {
            store.withCopies { copies in
                copies.find(digest, version)
                copies.verify(digest, version, since: start)
            }
        }

        /// Puts the server's entry, or nothing, in the place of a copy that is another one.
        ///
        /// - Parameter stored: in the engine's time.
        func keep(_ stored: StoredArchive?, inPlaceOf former: StoredArchive?) {
            guard let stored else {
                if let former { store.removeCopy(former) }
                return
            }
            let information = stored.information
            let kept = store.keep(
                stored.archive,
                information.attributes,
                of: key,
                version: information.identity.version,
                digest: digest,
                since: start
            )
            if let kept { end(verified: kept) } else if let former { store.removeCopy(former) }
        }

        func keep(_ result: Result<StoredArchive?, StoreError>, inPlaceOf former: StoredArchive?) {
            if case .success(let stored) = result { keep(stored, inPlaceOf: former) }
        }
    }

    /// Removes this very copy.
    private func removeCopy(_ copy: StoredArchive) {
        usingDisk { () throws(StoreError) in _ = try near.remove(copy.information) }
    }
}

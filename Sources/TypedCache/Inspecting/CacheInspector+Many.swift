import ArchiveStore
import Foundation

// Many entries by one call: a server is asked for some hundreds of them at once. All of it blocks.
extension CacheInspector {
    private var remote: (any RemoteStore)? { core.remote }

    /// Whether each key has an entry that has not expired.
    ///
    /// - Throws: as ``contains(forKey:)``, for the first key that fails.
    package func contains(forKeys keys: [String]) throws(CacheError) -> [Bool] {
        guard let remote else { return try keys.map { key throws(CacheError) in try contains(forKey: key) } }
        for key in keys { _ = try entryKey(key) }
        let now = core.clock.now
        return try zip(keys, remote.information(forKeys: keys)).map { key, found throws(CacheError) in
            do throws(StoreError) {
                return try found.get()?.attributes.freshness(at: now) == .fresh
            } catch {
                if error.code == .corrupted || error.code == .foreign { return false }
                throw core.failure(error).named(cache: core.name, key: key)
            }
        }
    }

    /// As ``peek(forKey:pieces:)`` for several keys, in their order; the archives are held whole.
    package func peek(forKeys keys: [String]) -> [Result<StoredArchive?, CacheError>] {
        let found =
            remote?.peek(forKeys: keys)
            ?? keys.map { key in Result { () throws(StoreError) in try core.store.peek(forKey: key) } }
        return zip(keys, found).map { key, entry in
            entry.mapError { [core] in core.failure($0).named(cache: core.name, key: key) }
        }
    }

    /// As ``forEachEntry(_:)``, until `body` returns `false`; on a server also values that no cache has put there, as
    /// `.foreign`.
    package func forEachValue(_ body: (Result<EntryInformation, CacheError>) -> Bool) throws(CacheError) {
        func give(_ entry: Result<EntryInformation, StoreError>) -> Bool {
            body(entry.mapError { core.failure($0) })
        }
        try core.wrapping { () throws(StoreError) in
            if let remote { try remote.forEachValue(give) } else { try core.store.forEachEntry(give) }
        }
    }

    /// Saves archives as they are, as ``save(archive:forKey:attributes:replaces:)`` saves one.
    ///
    /// - Returns: whether each was saved, or why not, in their order.
    package func save(_ archives: [NewArchive], replaces: Bool) -> [Result<Bool, CacheError>] {
        guard let remote else {
            return archives.map { new in
                Result { () throws(CacheError) in
                    try save(
                        archive: new.archive,
                        forKey: new.key,
                        attributes: new.attributes,
                        replaces: replaces
                    )
                }
            }
        }
        var results = [Result<Bool, CacheError>](repeating: .success(false), count: archives.count)
        var sound: [NewArchive] = []
        var places: [Int] = []
        for (place, new) in archives.enumerated() {
            do throws(CacheError) {
                _ = try entryKey(new.key)
                let attributes = try Self.checked(new.attributes)
                sound.append(NewArchive(key: new.key, archive: new.archive, attributes: attributes))
                places.append(place)
            } catch {
                results[place] = .failure(error)
            }
        }
        let saved = replaces ? remote.save(sound) : remote.save(sound, unlessFreshAt: core.clock.now)
        for ((place, new), answer) in zip(zip(places, sound), saved) {
            results[place] = answer.map { $0 != nil }
                .mapError { [core] in core.failure($0).named(cache: core.name, key: new.key) }
        }
        return results
    }
}

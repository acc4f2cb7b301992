import ArchiveStore
import Foundation
import KeyedArchive

// Values to archives and back.

extension Cache {
    /// - Precondition: the entry was made by ``MemoryForm`` of this cache.
    func value(of entry: MemoryEntry) throws(CacheError) -> Value {
        // Unchecked casts, 5 ns instead of 60: the tier belongs to this cache, and its entries are made by the same
        // rule.
        if sharesValues { return Self.value(in: entry) }
        return try core.naming(entry.key) { () throws(CacheError) in
            try Self.decode(unsafeDowncast(entry, to: ArchiveEntry.self).archive)
        }
    }

    /// The value in an entry that has it.
    ///
    /// - Precondition: it is a `ValueEntry` of this type of values.
    @inline(__always) static func value(in entry: MemoryEntry) -> Value {
        unsafeDowncast(entry, to: ValueEntry<Value>.self).value
    }

    /// The key as it is compared.
    ///
    /// - Throws: `.invalidKey`.
    @inline(__always) func entryKey(_ key: some CacheKey) throws(CacheError) -> EntryKey {
        do throws(CacheError) {
            // The error has the key's text: kept here for it, the text would be counted twice more at each hit.
            return try EntryKey(key.cacheKey)
        } catch {
            throw error.named(cache: name)
        }
    }

    static func decode(_ archive: [UInt8]) throws(CacheError) -> Value {
        do throws(ArchiveError) {
            return try Value.Wrapper.unarchive(archive, for: Value.self)
        } catch {
            throw CacheError(decoding: error, as: Value.self)
        }
    }

    /// Decodes a fresh entry that was read from disk, and has memory keep it. Records a hit or a miss.
    func finish(_ read: DiskRead?, _ key: EntryKey) throws(CacheError) -> Value? {
        guard let read else {
            recorder.miss(key)
            return nil
        }
        let value = try core.naming(key) { () throws(CacheError) in try Self.decode(read.stored.archive) }
        let entry = form.entry(value, of: key, read.stored, timing: read.timing)
        read.end(keeping: entry)
        recorder.diskHit(key, cost: entry.cost, isCopy: read.stored.isCopy)
        return value
    }

    /// As ``finish(_:_:)``, of several keys: in parts, each of which takes memory's lock once.
    func finish(_ reads: [Result<DiskRead?, CacheError>], _ keys: [EntryKey]) -> [FetchedEntry] {
        inParts(keys.indices) { finish(reads, keys, at: $0) }
    }

    /// As ``finish(_:_:)``, of the keys at some places, on the caller's thread.
    func finish(
        _ reads: [Result<DiskRead?, CacheError>],
        _ keys: [EntryKey],
        at places: Range<Int>
    ) -> [FetchedEntry] {
        var kept: [(read: DiskRead, entry: MemoryEntry)] = []
        var fetched: [FetchedEntry] = []
        kept.reserveCapacity(places.count)
        fetched.reserveCapacity(places.count)
        for index in places {
            let key = keys[index]
            do throws(CacheError) {
                guard let read = try reads[index].get() else {
                    recorder.miss(key)
                    fetched.append(.success(nil))
                    continue
                }
                let value = try Self.decode(read.stored.archive)
                let entry = form.entry(value, of: key, read.stored, timing: read.timing)
                kept.append((read, entry))
                fetched.append(.success(sharesValues ? entry : ValueEntry(holding: value, of: key)))
            } catch {
                fetched.append(.failure(error.named(cache: name, key: key.text)))
            }
        }
        DiskRead.end(kept)
        recorder.recordDiskHits(kept)
        return fetched
    }

    /// Archives a value.
    ///
    /// - Throws: `.encodingFailed`.
    static func newEntry(
        _ value: Value,
        forKey key: EntryKey,
        _ attributes: EntryAttributes,
        as form: MemoryForm<Value>
    ) throws(CacheError) -> NewEntry {
        let archive: [UInt8]
        do throws(ArchiveError) {
            let archived = try KeyedArchiver.archive(value.encoder)
            // A value that could not be fetched again is not saved.
            if archived.mayBeRefused { try Value.Wrapper.check(archived.bytes, for: Value.self) }
            archive = archived.bytes
            if NestedNil.isLost(value, in: archive) {
                throw ArchiveError(.encodingFailed, "nil within an optional that is not nil would be read as nil")
            }
        } catch {
            throw CacheError(encoding: error)
        }
        let timing = EntryTiming.of(attributes)
        return NewEntry(
            archive: archive,
            attributes: attributes,
            entry: form.entry(value, of: key, archive: archive, attributes, timing: timing)
        )
    }

    /// When and for how long an entry that is saved now may be used, and its tags.
    ///
    /// - Throws: `.invalidExpiration`, `.invalidTag`.
    func attributes(
        _ expiration: Expiration?,
        tags: Set<String>,
        of key: EntryKey
    ) throws(CacheError) -> EntryAttributes {
        try core.naming(key) { () throws(CacheError) in
            var attributes = try (expiration ?? defaultExpiration).attributes(savedAt: core.clock.now)
            if !tags.isEmpty { attributes.tags = try EntryTags.check(tags) }
            return attributes
        }
    }
}

/// `.some(nil)` of an optional within an optional, which archives do not tell from `nil`.
private enum NestedNil {
    /// The archive of `nil`, which is the same for all types.
    private static let archive = try? KeyedArchiver.archive(CodableWrapper<Int?>(nil)).bytes

    /// Whether a value is not `nil`, and its archive is that of `nil`.
    static func isLost<Value>(_ value: Value, in archive: [UInt8]) -> Bool {
        guard archive.count < 256, archive == self.archive else { return false }
        guard let type = Value.self as? any OptionalKind.Type, type.isNested else { return false }
        return !Mirror(reflecting: value).children.isEmpty
    }
}

private protocol OptionalKind {
    /// Whether the wrapped type is optional itself.
    static var isNested: Bool { get }
}

extension Optional: OptionalKind {
    fileprivate static var isNested: Bool { Wrapped.self is any OptionalKind.Type }
}

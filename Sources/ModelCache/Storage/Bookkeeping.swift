import Foundation
import KeyedArchive
import Synchronization
import TypedCache

/// An account's counter of revisions and its invalidations.
struct BookkeepingRecord: Encoded, Codable, NamedInArchives, Sendable {
    /// Made again with each new record. Entries of other generations are stale, and any answer replaces them: their
    /// revisions, and the invalidations since, are not known.
    var generation: UInt64
    /// Revisions up to this one may have been given.
    var reserved: UInt64
    var invalidations: Invalidations

    static var archivedName: String { "ModelCache.Bookkeeping" }

    private enum CodingKeys: String, CodingKey { case generation, reserved, invalidations }

    init(generation: UInt64) {
        self.generation = generation
        reserved = 0
        invalidations = Invalidations()
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        generation = UInt64(bitPattern: try container.decode(Int64.self, forKey: .generation))
        reserved = UInt64(bitPattern: try container.decode(Int64.self, forKey: .reserved))
        guard
            let invalidations = Invalidations(
                try container.decodeIfPresent([String].self, forKey: .invalidations) ?? []
            )
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .invalidations,
                in: container,
                debugDescription: "an invalidation is no revision and scope"
            )
        }
        self.invalidations = invalidations
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Int64(bitPattern: generation), forKey: .generation)
        try container.encode(Int64(bitPattern: reserved), forKey: .reserved)
        let texts = invalidations.texts
        if !texts.isEmpty { try container.encode(texts, forKey: .invalidations) }
    }
}

/// Gives revisions, and knows the scopes that are invalidated.
///
/// Revisions are reserved on disk by the thousand, so that none is given twice, also after a crash. Where the disk takes no
/// reservation, revisions are of a generation that ends with the process: later ones may give their numbers again.
final class Bookkeeping: Sendable {
    private static let reservation: UInt64 = 4_096

    private struct State {
        var record: BookkeepingRecord
        var last: Revision
        /// The generation of revisions that are not reserved. Their numbers go on after the others, so that both have one
        /// order in this process.
        let unreserved = UInt64.random(in: 1...UInt64(Int64.max))
        var isReserving = false

        /// Goes on to the next revision, at which some scopes are invalidated.
        mutating func advance(invalidating scopes: [InvalidationScope]) {
            last = Revision(last.number + 1)
            for scope in scopes { record.invalidations.add(scope, at: last) }
        }

        /// Whether an entry's revision was given since the record was made. One after the last, from before an older record
        /// took the place of a lost one, counts as of another generation.
        func knows(_ entry: EntryState) -> Bool {
            entry.generation == unreserved || (entry.generation == record.generation && entry.revision <= last)
        }
    }

    private let cache: Cache<BookkeepingRecord>
    private let state: Mutex<State>

    /// Blocks on disk I/O.
    ///
    /// - Parameter unreadable: is told of a record that cannot be decoded.
    /// - Throws: `CacheError`, as fetching.
    init(_ cache: Cache<BookkeepingRecord>, unreadable: UnreadableEntries) throws(CacheError) {
        self.cache = cache
        var found: BookkeepingRecord?
        do throws(CacheError) {
            found = try cache.fetchObject()
        } catch {
            // A record that cannot be decoded counts as none: the generation tells that entries are older.
            guard error.code == .decodingFailed || error.code == .typeMismatch else { throw error }
            unreadable.tell("", because: error)
        }
        var record = found ?? BookkeepingRecord(generation: .random(in: 1...UInt64(Int64.max)))
        // The next revision is above all that were given; the end of the numbers means that the record is damaged.
        if record.reserved > UInt64(Int64.max) / 2 {
            record = BookkeepingRecord(generation: .random(in: 1...UInt64(Int64.max)))
        }
        // None is left: more are reserved before the first is given, which a program that only reads does not wait for.
        state = Mutex(State(record: record, last: Revision(record.reserved)))
    }

    /// The generation that a revision belongs to.
    func generation(of revision: Revision) -> UInt64 {
        state.withLock { $0.record.reserved < revision.number ? $0.unreserved : $0.record.generation }
    }

    /// The next revision; `nil` if none is left, and ``reserve()`` has to be called first.
    ///
    /// - Parameters:
    ///   - scopes: are invalidated at the revision, in memory, in the moment at which it is given: an entry with a later
    ///     revision was changed by a call that knew of the invalidation. ``save()`` has the disk know of it.
    ///   - extend: schedules ``reserve()``; called when half of the reserved revisions were given.
    func next(invalidating scopes: [InvalidationScope] = [], _ extend: () -> Void) -> Revision? {
        let (revision, isShort) = state.withLock { state -> (Revision?, Bool) in
            guard state.last.number < state.record.reserved else { return (nil, false) }
            state.advance(invalidating: scopes)
            let isShort = state.record.reserved - state.last.number < Self.reservation / 2 && !state.isReserving
            if isShort { state.isReserving = true }
            return (state.last, isShort)
        }
        if isShort { extend() }
        return revision
    }

    /// The next revision, whether or not it is reserved: for where the disk has failed. All else is as for
    /// ``next(invalidating:_:)``.
    func nextUnreserved(invalidating scopes: [InvalidationScope] = []) -> Revision {
        state.withLock { state in
            state.advance(invalidating: scopes)
            return state.last
        }
    }

    /// Reserves more revisions, which are given once that is on disk. Blocks on disk I/O.
    func reserve() throws(ModelCacheError) {
        defer { state.withLock { $0.isReserving = false } }
        try save(reserving: Self.reservation)
    }

    // The record is looked at while the lock of `saving` is held, so that no save puts an older one after a later one.
    private let saving = Mutex(())

    /// Saves the record, with the invalidations up to now. Blocks on disk I/O.
    ///
    /// - Parameter count: how many revisions are reserved after the last one. Revisions that were given before the disk had
    ///   them are reserved as well.
    func save(reserving count: UInt64 = 0) throws(ModelCacheError) {
        var failure: CacheError?
        saving.withLock { _ in
            let record = state.withLock { state in
                var record = state.record
                record.reserved = max(record.reserved, state.last.number + count)
                return record
            }
            do throws(CacheError) {
                try cache.save(object: record)
                state.withLock { $0.record.reserved = record.reserved }
            } catch {
                failure = error
            }
        }
        if let failure { throw ModelCacheError(failure) }
    }

    /// Whether an entry is stale for another reason than its time.
    func isInvalidated(_ entry: EntryState, in scopes: @autoclosure () -> [InvalidationScope]) -> Bool {
        // `scopes` runs the model's own code, which must not run under the lock.
        let state = state.withLock { $0 }
        return !state.knows(entry) || state.record.invalidations.covers(entry.revision, in: scopes())
    }

    /// The latest invalidation of some scopes. See ``Invalidations/latest(of:anyTag:)``.
    func latestInvalidation(of scopes: [InvalidationScope], anyTag: Bool = false) -> Revision {
        state.withLock { $0.record.invalidations }.latest(of: scopes, anyTag: anyTag)
    }

    /// The state of an entry when some of its fields are changed: the others are as old as they were.
    func changed(
        _ entry: EntryState,
        to revision: Revision,
        at now: Date,
        in scopes: @autoclosure () -> [InvalidationScope]
    ) -> EntryState {
        var changed = entry
        if isInvalidated(entry, in: scopes()) {
            // The new revision is after the invalidation, and the server's window is for expired entries.
            changed.freshUntil = min(entry.freshUntil ?? now, now)
            changed.staleWhileRevalidate = .zero
        }
        changed.generation = generation(of: revision)
        changed.revision = revision
        return changed
    }

    /// The revision of an entry as it counts against an answer's.
    func comparable(_ entry: EntryState) -> Revision {
        state.withLock { $0.knows(entry) } ? entry.revision : .none
    }
}

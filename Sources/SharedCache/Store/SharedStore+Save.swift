import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try save(try newEntry(archive, forKey: key, attributes), if: condition)
    }

    func save(
        _ new: NewEntry,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        guard let condition else { return try change(new.key, SendingParts(new, Insisting(SaveEntry(new)))) }
        return try change(
            new.key,
            SendingParts(new, Insisting(ChangeSeen.save(new, try knownClock(), if: condition)))
        )
    }

    /// Blocks if the server's clock is not known yet.
    func newEntry(
        _ archive: [UInt8],
        forKey key: String,
        _ attributes: EntryAttributes
    ) throws(StoreError) -> NewEntry {
        let key = try StoreKey(key)
        return try newEntry(archive, of: key, attributes, clock: try knownClock(owing: [key]))
    }

    private func newEntry(
        _ archive: [UInt8],
        of key: StoreKey,
        _ attributes: EntryAttributes,
        clock: EngineClock
    ) throws(StoreError) -> NewEntry {
        try NewEntry(
            archive,
            of: key,
            in: view.names,
            attributes,
            clock: clock,
            serial: serials.withLock { $0.next() },
            compression: settings.compression,
            sealing: sealing
        )
    }

    /// As ``knownClock()``, for a save: without the clock it fails, and the keys are owed as after any failed save.
    func knownClock(owing keys: [StoreKey]) throws(StoreError) -> EngineClock {
        do throws(StoreError) {
            return try knownClock()
        } catch {
            if error.isUnacknowledged { view.owe(keys) }
            throw error
        }
    }

    /// As its blocking twin, but suspends.
    func newEntrySuspending(
        _ archive: [UInt8],
        forKey key: String,
        _ attributes: EntryAttributes
    ) async throws(StoreError) -> NewEntry {
        let key = try StoreKey(key)
        let clock: EngineClock
        do throws(StoreError) {
            clock = try await knownClock(isUrgent: false)
        } catch {
            if error.isUnacknowledged { view.owe([key]) }
            throw error
        }
        return try newEntry(archive, of: key, attributes, clock: clock)
    }

    /// Whether no key is owed. A missing node of a cluster is owed its own keys only: see ``isOwed(_:)``.
    var isSettled: Bool { view.isSettled }

    package func isOwed(_ key: String) -> Bool {
        // An invalid key has no entry that could be owed.
        guard !isSettled, let key = try? StoreKey(key) else { return false }
        return view.isOwed(key)
    }

    func owesAny(of keys: some Sequence<String>) -> Bool { !isSettled && keys.contains(where: isOwed) }

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes
    ) async throws(StoreError) -> EntryInformation {
        try await save(try await newEntrySuspending(archive, forKey: key, attributes))
    }

    func save(_ new: NewEntry) async throws(StoreError) -> EntryInformation {
        // Most saves are small, and need no call around the call.
        if new.parts.isEmpty { return try await request(Owing(new.key, Insisting(SaveEntry(new)))) }
        return try await request(Owing(new.key, SendingParts(new, Insisting(SaveEntry(new)))))
    }

    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        try ask(Insisting(ChangeSeen.moveDeadline(of: entry, to: date, try knownClock(), now: .now)))
    }
}

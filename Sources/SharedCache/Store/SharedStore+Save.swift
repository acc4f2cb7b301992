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
        let new = try NewEntry(archive, of: try StoreKey(key), attributes, offset: offset)
        return try owing(new.key) { () throws(StoreError) in
            try insist(Self.saving) { generation throws(StoreError) -> Attempt<EntryInformation?> in
                guard let condition else { return try save(new, in: generation) }
                return try save(new, in: generation, if: condition)
            }
        }
    }

    static let saving = "saving an archive"

    /// An entry as it is sent.
    struct NewEntry {
        let key: StoreKey
        let bytes: [UInt8]
        let information: EntryInformation
        let lifetime: Lifetime

        init(
            _ archive: [UInt8],
            of key: StoreKey,
            _ attributes: EntryAttributes,
            offset: ClockOffset
        ) throws(StoreError) {
            let limit = SharedStore.archiveByteLimit
            guard archive.count <= limit else { throw StoreError.tooLarge(archive.count, limit: limit) }
            var attributes = attributes
            attributes.serial = .random(in: 0 ... .max)
            let there = offset.there(attributes)
            self.key = key
            bytes = try EntryFile.bytes(archive: archive, key: key, attributes: there, compression: .automatic)
            lifetime = Lifetime(attributes, now: .now)
            information = EntryInformation(
                key: key.string,
                attributes: attributes,
                archiveByteCount: archive.count,
                storedByteCount: bytes.count,
                identity: EntryIdentity(there) ?? EntryIdentity(volume: 0, file: 0, checksum: 0)
            )
        }
    }

    package var isSettled: Bool { debts.isEmpty }

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes
    ) async throws(StoreError) -> EntryInformation {
        let new = try NewEntry(archive, of: try StoreKey(key), attributes, offset: offset)
        do throws(StoreError) {
            return try await insistSuspending(Self.saving) {
                generation throws(StoreError) -> Attempt<EntryInformation> in
                let commands = saving(new, in: generation)
                guard let values = try await request(commands, in: generation, action: Self.saving) else {
                    return .repeated
                }
                for value in values { try Engine.check(value, doing: Self.saving) }
                return .done(new.information)
            }
        } catch {
            if error.code == .unreachable { debts.owe(new.key) }
            throw error
        }
    }

    private func save(_ new: NewEntry, in generation: Generation) throws(StoreError) -> Attempt<EntryInformation?> {
        let commands = saving(new, in: generation)
        guard let values = try ask(commands, in: generation, action: Self.saving) else { return .repeated }
        for value in values { try Engine.check(value, doing: Self.saving) }
        return .done(new.information)
    }

    /// The commands that save an entry, whatever is there.
    private func saving(_ new: NewEntry, in generation: Generation) -> [RedisCommand] {
        let name = names.entry(new.key.string, generation)
        var words: [RedisCommand.Argument] = ["SET", .text(name), .bytes(new.bytes)]
        if let milliseconds = new.lifetime.milliseconds { words += ["PX", .integer(milliseconds)] }
        // A load that takes the lease between the two sees that its entry was replaced.
        return [["DEL", .text(EntryNames.lease(ofEntry: name))], RedisCommand(words)]
    }

    private func save(
        _ new: NewEntry,
        in generation: Generation,
        if condition: (EntryInformation?) -> Bool
    ) throws(StoreError) -> Attempt<EntryInformation?> {
        guard let seen = try look(at: new.key, in: generation, Self.saving) else { return .repeated }
        guard condition(seen.information) else { return .done(nil) }
        let command = EntryScript(name: seen.name).save(new.bytes, ifEnding: seen.end, new.lifetime)
        guard let values = try ask([command], in: generation, action: Self.saving) else { return .repeated }
        try Engine.check(values[0], doing: Self.saving)
        // Otherwise others have changed it meanwhile.
        return values[0].integer == 1 ? .done(new.information) : .repeated
    }

    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        let action = "moving a deadline"
        let key = try StoreKey(entry.key)
        var attributes = entry.attributes
        attributes.expiresAt = date
        let there = offset.there(attributes)
        let seconds = there.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        if seconds.isNaN {
            throw StoreError(.invalidArgument, action: action, reason: "a date is not a number")
        }
        return try insist(action) { generation throws(StoreError) -> Attempt<EntryInformation?> in
            guard let seen = try look(at: key, in: generation, action) else { return .repeated }
            guard let found = seen.information, found.identity == entry.identity,
                let identity = EntryIdentity(there)
            else { return .done(nil) }
            let end = EntryEnd.moving(deadlineTo: seconds, of: seen.end)
            let lifetime = Lifetime(attributes, now: .now)
            let command = EntryScript(name: seen.name).replaceEnd(seen.end, by: end, lifetime)
            guard let values = try ask([command], in: generation, action: action) else { return .repeated }
            try Engine.check(values[0], doing: action)
            guard values[0].integer == 1 else { return .repeated }
            let moved = EntryInformation(
                key: found.key,
                attributes: attributes,
                archiveByteCount: found.archiveByteCount,
                storedByteCount: found.storedByteCount,
                identity: identity
            )
            return .done(moved)
        }
    }
}

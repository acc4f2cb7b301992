import Foundation

@testable import ArchiveStore
@testable import SharedCache
@testable import TypedCache

// The moves of deadlines of `CacheCore`, with events in place of threads.
extension SimulatedProcess {
    /// Gives the entry of a key that is there and fresh another deadline.
    ///
    /// - Parameters:
    ///   - begun: is given the entry's version before the move is sent.
    ///   - done: called with whether the deadline was moved.
    func extend(
        _ key: SimulatedKey,
        by lifetime: TimeInterval,
        _ begun: @escaping (UInt64) -> Void,
        _ done: @escaping (Bool) -> Void
    ) {
        let deadline = now + lifetime
        read(key) { [self] result in
            guard case .success(let found?) = result, isFresh(found.information) else { return done(false) }
            begun(oracle.version(in: found.archive, for: key.text))
            move(found.information, key, to: deadline) { [self] isMoved in
                // Memory knows the former deadline.
                if isMoved, variant != .untoldDeadline { _ = memory.drop(key.entry) }
                done(isMoved)
            }
        }
    }

    private func move(
        _ entry: EntryInformation,
        _ key: SimulatedKey,
        to deadline: Date,
        _ done: @escaping (Bool) -> Void
    ) {
        guard let call = moveCall(entry, key, to: deadline) else { return done(false) }
        make(Insisting(call)) { [self] result in
            guard case .success(let moved) = result else { return done(false) }
            if moved != nil { return done(true) }
            // Another process may have moved it: it is the same entry all the same.
            read(key) { [self] result in
                guard case .success(let found?) = result, found.information.isSave(of: entry) else {
                    return done(false)
                }
                move(found.information, key, to: deadline, done)
            }
        }
    }

    private func moveCall(
        _ entry: EntryInformation,
        _ key: SimulatedKey,
        to deadline: Date
    ) -> ChangeSeen<EntryInformation?>? {
        guard variant == .anyDeadline else {
            return try? .moveDeadline(of: entry, to: deadline, clock, now: now)
        }
        var attributes = entry.attributes
        attributes.expiresAt = deadline
        let seconds = clock.there(attributes).expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        let lifetime = Lifetime(attributes, now: now)
        return ChangeSeen(key.store, clock, action: "moving a deadline") { look in
            guard look.information != nil else { return .leave(nil) }
            let end = EntryEnd.moving(deadlineTo: seconds, of: look.end)
            return .change(look.script.replaceEnd(look.end, by: end, lifetime), entry)
        }
    }
}

import Foundation

/// Another one behind a lock, for threads to share what may be used by one at a time only.
final class LockedContestant: DiskContestant {
    private let contestant: any DiskContestant
    private let lock = NSLock()

    init(_ contestant: any DiskContestant) { self.contestant = contestant }

    func save(_ item: DiskItem, forKey key: String) throws {
        try lock.withLock { try contestant.save(item, forKey: key) }
    }

    func fetch(forKey key: String) throws -> Bool { try lock.withLock { try contestant.fetch(forKey: key) } }

    func remove(forKey key: String) throws { try lock.withLock { try contestant.remove(forKey: key) } }
}

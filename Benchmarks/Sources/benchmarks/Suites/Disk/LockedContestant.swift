import Foundation

/// Another contestant behind a lock, for threads to share a store that only one may use at a time.
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

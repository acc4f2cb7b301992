import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// Goes through all entries of a cache, one after another, and changes nothing.
struct EntryWalk {
    let cache: any CacheAccess
    let interruption: any Interruption
    /// The time since some moment in the past.
    let now: () -> Duration

    /// Gives each entry to `body`, or why it cannot be read, until a signal comes.
    func run(
        reporter: inout EntryReporter,
        _ body: (Result<EntryInformation, CacheError>, inout EntryReporter) throws -> Void
    ) throws {
        let start = now()
        let parts = cache.partCount
        var count = 0
        for part in 0..<parts {
            guard interruption.signal == nil else { return }
            for entry in try cache.entries(inPart: part) {
                guard interruption.signal == nil else { return }
                try body(entry, &reporter)
                count += 1
                // Parts of a hash are about equal. One part says nothing of how far it has come.
                reporter.advanced(
                    Progress(
                        records: count,
                        noun: "entries",
                        bytes: part,
                        size: parts > 1 ? parts : nil,
                        elapsed: now() - start
                    )
                )
            }
        }
    }

    /// The whole of an entry that was listed, its archive parsed; `nil` if it is gone.
    func whole(_ listed: Result<EntryInformation, CacheError>) throws(EntryFinding) -> StoredArchive? {
        let entry: EntryInformation
        do throws(CacheError) { entry = try listed.get() } catch { throw EntryFinding(error) }
        let stored: StoredArchive?
        do throws(CacheError) {
            stored = try cache.peek(entry.key)
        } catch {
            throw EntryFinding(error, key: entry.key, entry: entry)
        }
        guard let stored else { return nil }
        do throws(ArchiveError) {
            _ = try ArchiveTree(stored.archive)
        } catch {
            throw EntryFinding(error, stored.information)
        }
        return stored
    }
}

extension EntryInformation {
    func isExpired(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }
}

import Foundation
import Synchronization

extension FileStore {
    /// Implementation: the least useful first, by the ledger of a store with limits. A store without limits goes by the
    /// journal of other stores; if there is no journal, by the times when entries were saved, which means a look at
    /// each entry.
    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        guard let directory = try refreshed() else { return }
        defer { withExtendedLifetime(directory) {} }
        if settings.isLimited {
            try list(directory)
            try giveUp(in: directory, told: removed, keepsUnreadable: true) {
                $0.total.byteCount <= byteCount ? nil : $0.nextVictim()
            }
            return try directory.journal.shorten()
        }
        // A ledger of its own, for the time of this call: nothing is written for it.
        let ledger = Mutex(try temporaryLedger(of: directory))
        let withLedger =
            { body in ledger.withLock { ledger in body(&ledger) } } as ((inout Ledger) -> EntryName?) -> EntryName??
        try giveUp(in: directory, told: removed, by: withLedger, keepsUnreadable: true) {
            $0.total.byteCount <= byteCount ? nil : $0.nextVictim()
        }
        try directory.journal.shorten()
    }

    private func temporaryLedger(of directory: StoreDirectory) throws(StoreError) -> Ledger {
        let known = try directory.journal.read()
        var ledger = known ?? Ledger(limit: .unlimited)
        let names = ledger.namesByShard()
        var found: [(name: EntryName, size: NameSize, storedAt: Double)] = []
        for (index, shard) in directory.shards.enumerated() {
            var missing = Set(names[index])
            if let folder = try shard.refreshedDirectory() {
                for (name, size) in try sizes(in: folder, of: shard, index) {
                    missing.remove(name)
                    let chain = chain(name, in: folder, of: shard, directory)
                    let storedAt = known == nil ? try chain.storedAt() : 0
                    found.append((name, size, storedAt))
                }
            }
            for name in missing { ledger.apply(JournalRecord(.holds, of: name, writer: 0)) }
        }
        if known == nil { found.sort { $0.storedAt < $1.storedAt } }
        for (name, size, _) in found { ledger.apply(JournalRecord(.holds, of: name, size, writer: 0)) }
        return ledger
    }
}

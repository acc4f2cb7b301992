import ArchiveStore
import TestSupport
import Testing

@testable import TypedCache

/// Memory beside a store that other processes change, too, and that answers operations which are under way at once in
/// any order.
@Suite struct MemoryTierTests {
    /// An operation on the one key, which the store has reached or not.
    private struct Operation {
        let start: MemoryTier.Start
        let isWrite: Bool
        /// The place of the store's entry in its history when the store was reached.
        var place: Int?
    }

    /// After a caller was given an entry, or none, no hit finds an earlier one, though nothing tells of the changes of
    /// other processes.
    @Test(arguments: seeds(0..<2_000)) func whatACallerWasGivenIsNeverReplacedByOlderEntries(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let key = try EntryKey("key")
        let table = EntryTable()
        defer { table.deallocate() }
        var tier = MemoryTier(settings: MemorySettings(), table: table)
        // The versions that the store had, one after another; 0 for no entry.
        var history: [UInt64] = [0]
        var underWay: [Operation] = []
        var given = 0
        func entry(_ place: Int) -> MemoryEntry? {
            if history[place] == 0 { return nil }
            let entry = ValueEntry(place, key: key, cost: 1, deadline: .infinity, timing: nil)
            entry.version = history[place]
            return entry
        }
        func change(isRemoval: Bool) { history.append(isRemoval ? 0 : UInt64(history.count)) }
        for step in 0..<200 {
            let chosen = underWay.indices.randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                if underWay.count < 4 { underWay.append(Operation(start: tier.beginRead(key), isWrite: false)) }
            case 3:
                let isKnown = underWay.contains { $0.isWrite }
                if !isKnown { underWay.append(Operation(start: tier.beginWrite(key).start, isWrite: true)) }
            case 4: change(isRemoval: Int.random(in: 0..<4, using: &random) == 0)
            // Now and then a change is announced.
            case 5: _ = tier.invalidate(key)
            default:
                guard let chosen else { continue }
                guard let place = underWay[chosen].place else {
                    if underWay[chosen].isWrite { change(isRemoval: false) }
                    underWay[chosen].place = history.count - 1
                    continue
                }
                let operation = underWay.remove(at: chosen)
                if operation.isWrite {
                    _ = tier.endWrite(key, since: operation.start, keeping: entry(place))
                } else {
                    let found = entry(place)
                    _ = tier.endRead(key, operation.start, keeping: found, isMissing: found == nil)
                }
                given = max(given, place)
            }
            guard let hit = table.hit(key) as? ValueEntry<Int> else { continue }
            #expect(hit.value >= given, "seed \(seed), step \(step)")
        }
    }

    @Test func equalEntriesOfReadingsAtOnceAreKept() throws {
        let key = try EntryKey("key")
        let table = EntryTable()
        defer { table.deallocate() }
        var tier = MemoryTier(settings: MemorySettings(), table: table)
        func entry() -> MemoryEntry {
            let entry = ValueEntry(1, key: key, cost: 1, deadline: .infinity, timing: nil)
            entry.version = 7
            return entry
        }
        let (first, second) = (tier.beginRead(key), tier.beginRead(key))
        _ = tier.endRead(key, second, keeping: entry())
        #expect(table.hit(key) != nil)
        _ = tier.endRead(key, first, keeping: entry())
        #expect(table.hit(key) != nil)
    }
    /// A fetch that missed memory while a load was saving may begin to read once the disk has refused the save.
    @Test(arguments: [false, true]) func aReadingLeavesTheEntryThatTheDiskHasRefused(isMissing: Bool) throws {
        let key = try EntryKey("key")
        let table = EntryTable()
        defer { table.deallocate() }
        var tier = MemoryTier(settings: MemorySettings(), table: table)
        func entry(_ value: Int, version: UInt64) -> MemoryEntry {
            let entry = ValueEntry(value, key: key, cost: 1, deadline: .infinity, timing: nil)
            entry.version = version
            return entry
        }
        let load = tier.beginLoad(key)
        let begun = tier.beginWrite(key, after: load, tags: [])
        let save = try #require(begun)
        let refused = entry(2, version: 0)
        let information = EntryInformation.refused("key")
        _ = tier.endWrite(key, since: save.start, keeping: refused, unsaved: information)
        let read = tier.beginRead(key)
        _ = tier.endRead(key, read, keeping: isMissing ? nil : entry(1, version: 7), isMissing: isMissing)
        #expect(table.hit(key) === refused)
        #expect(tier.isUnsaved(key))
        _ = tier.endLoad(key, load, keeping: nil)
        // A load that begins later is later than both.
        let next = tier.beginLoad(key)
        let renewed = entry(1, version: 8)
        _ = tier.endLoad(key, next, keeping: renewed)
        #expect(table.hit(key) === renewed)
        #expect(!tier.isUnsaved(key))
    }
}

import ArchiveStore
import Foundation
import RedisWire

extension SharedStore {
    package func takeLeases(ofKeys keys: [String]) async throws(StoreError) -> [any LoadLease] {
        try checkUsable()
        // Nothing may be saved for a key whose former entry could be there still, without removing that first.
        if !debts.isEmpty || engine.breaker.isSuspect {
            throw StoreError(.unreachable, action: Self.leasing, reason: "the server did not answer a moment ago")
        }
        let keys = try keys.map { key throws(StoreError) in try StoreKey(key) }
        for _ in 0..<100 {
            let generation = try await requestedGeneration(Self.leasing)
            let requests = keys.map { SharedLease(of: $0, self, generation) }
            let asked = requests.flatMap(\.taking) + [tagRemovals, ["GET", .text(names.generation)]]
            let values = try await request(asked, for: requests)
            let last = values[values.count - 1]
            try Engine.check(last, doing: Self.leasing)
            guard Generation(last) == generation else {
                forget(generation)
                continue
            }
            let areTaken = requests.indices.map { values[2 * $0].text == "OK" }
            let count = areTaken.firstIndex(of: false) ?? requests.count
            // Those behind one that another load has: kept while waiting for it, they could make others wait for this.
            for index in requests.indices where index > count && areTaken[index] { await requests[index].release() }
            if count == 0 { try Engine.check(values[0], doing: Self.leasing) }
            let taken = requests.prefix(count).map { $0 }
            let removals = values[values.count - 2]
            for (index, lease) in taken.enumerated() {
                lease.begin(found: values[2 * index + 1], tagRemovals: removals.bytes)
            }
            return taken
        }
        throw StoreError(.unreachable, action: Self.leasing, reason: "all entries are removed again and again")
    }

    private func request(
        _ commands: [RedisCommand],
        for leases: [SharedLease]
    ) async throws(StoreError) -> [RedisValue] {
        do throws(StoreError) {
            return try await engine.request(commands, action: Self.leasing)
        } catch {
            // The server may take them yet, and other machines would wait for nothing.
            Task { for lease in leases { await lease.release() } }
            throw error
        }
    }

    package func waitForLease(ofKey key: String, atMost time: Duration) async {
        await waiters.wait(for: key, atMost: time)
    }

    private var tagRemovals: RedisCommand { ["GET", .text(names.tagRemovals)] }

    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try checkUsable()
        let value = RedisCommand.Argument.text(Generation.random().description)
        let action = "removing entries by tag"
        // First, so that a load either saves before the entries are listed, or finds that this has changed.
        let answers = try engine.ask([["SET", .text(names.tagRemovals), value]], action: action)
        try Engine.check(answers[0], doing: action)
        try removeEntries(removing: removing, removed: removed) { $0.attributes.has(tag: tag) }
    }

    private static let leasing = "joining loads among machines"

    /// Saves a loaded value, unless its lease has ended.
    func save(
        _ new: NewEntry,
        under lease: SharedLease,
        if condition: () -> Bool
    ) throws(StoreError) -> EntryInformation? {
        try owing(new.key) { () throws(StoreError) in
            guard condition() else { return nil }
            let commands = [lease.saving(new), tagRemovals]
            // Otherwise all entries were removed meanwhile.
            guard let values = try ask(commands, in: lease.generation, action: Self.saving) else { return nil }
            for value in values { try Engine.check(value, doing: Self.saving) }
            guard values[0].integer == 1 else { return nil }
            if new.information.attributes.tags.isEmpty || values[1].bytes == lease.tagRemovals {
                return new.information
            }
            // Entries were removed by a tag meanwhile, perhaps before this one was there.
            _ = try remove(new.information)
            return nil
        }
    }
}

import ArchiveStore
import Foundation
import RedisWire

// Many entries by few writes: commands for some hundred of them go out together.
extension SharedStore {
    /// How many bytes of archives are sent by one write.
    private static let bytesAtOnce = 1 << 20
    private static let entriesAtOnce = 256

    package func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        changing(archives, of: archives.map(\.key)) { archives in
            inParts(archives) { news, _ throws(StoreError) in
                try ask(SendingParts(news, Insisting(SaveEntries(news: news)))).map { Saved(result: $0) }
            }
        }
    }

    /// Has `body` change the entries of keys, after those of them that are owed were paid, all by one call: while a server does
    /// not answer, that waits once, and not for each key. Keys that are owed still have the payment's failure.
    private func changing<Change, Result>(
        _ changes: [Change],
        of keys: [String],
        _ body: ([Change]) -> [Swift.Result<Result, StoreError>]
    ) -> [Swift.Result<Result, StoreError>] {
        do throws(StoreError) {
            try checkUsable()
            if view.debts.withList({ $0.owesGeneration }) { try payDebts() }
        } catch {
            return changes.map { _ in .failure(error) }
        }
        if !owesAny(of: keys) { return body(changes) }
        // A debt is settled by a change that no payment overtakes.
        var results: [Swift.Result<Result, StoreError>] = []
        view.debts.payment.withLock { _ in
            let owed = keys.compactMap { key in isOwed(key) ? try? StoreKey(key) : nil }
            var payment = PayKeys(owed, mayLeaveSome: true)
            var failure: StoreError?
            do throws(StoreError) {
                if !owed.isEmpty { try engine.make(&payment, view) }
                failure = payment.failure
            } catch {
                failure = error
            }
            let unpaid = changes.indices.filter { isOwed(keys[$0]) }
            let isUnpaid = Set(unpaid)
            var done = body(changes.indices.filter { !isUnpaid.contains($0) }.map { changes[$0] }).makeIterator()
            let reason =
                failure ?? StoreError(.unreachable, action: PayKeys.paying, reason: "another change failed")
            results = changes.indices.map {
                isUnpaid.contains($0) ? .failure(reason) : done.next() ?? .failure(reason)
            }
        }
        return results
    }

    package func save(
        _ archives: [NewArchive],
        unlessFreshAt date: Date
    ) -> [Result<EntryInformation?, StoreError>] {
        let isWanted = { (former: EntryInformation?) in former?.attributes.freshness(at: date) != .fresh }
        func saveAlone(_ new: NewArchive) -> Result<EntryInformation?, StoreError> {
            Result { () throws(StoreError) in
                try save(new.archive, forKey: new.key, attributes: new.attributes, if: isWanted)
            }
        }
        // Of two for one key, the first one counts, and the second one sees it.
        let keys = Set(archives.map(\.key))
        if keys.count < archives.count || owesAny(of: keys) { return archives.map(saveAlone) }
        return inParts(archives) { news, archives throws(StoreError) in
            try checkUsable()
            var call = SendingParts(news, Insisting(SaveMissingEntries(news, try knownClock(), if: isWanted)))
            let outcomes: [SaveMissingEntries.Saving]
            do throws(StoreError) {
                outcomes = try engine.make(&call, view)
            } catch {
                if call.call.call.hasSaved { throw error }
                outcomes = news.map { _ in .unseen(error) }
            }
            return zip(outcomes, archives).map { outcome, archive in
                switch outcome {
                case .done(let result): Saved(result: result)
                // Fresh entries are to stay, and any other one shows its age.
                case .unseen(let error): Saved(result: .failure(error), isOwed: false)
                case .disturbed: Saved(result: saveAlone(archive), isOwed: false)
                }
            }
        }
    }

    /// The result of one of many saves.
    private struct Saved {
        let result: Result<EntryInformation?, StoreError>
        /// Whether its key is owed if the server has not acknowledged it.
        var isOwed = true
    }

    /// Has `body` send some entries at a time; if that is not acknowledged, all of them are owed.
    private func inParts(
        _ archives: [NewArchive],
        _ body: ([NewEntry], [NewArchive]) throws(StoreError) -> [Saved]
    ) -> [Result<EntryInformation?, StoreError>] {
        var results = [Result<EntryInformation?, StoreError>](repeating: .success(nil), count: archives.count)
        var rest = archives.indices[...]
        while !rest.isEmpty {
            var byteCount = 0
            let part = rest.prefix(Self.entriesAtOnce).prefix { place in
                let count = archives[place].archive.count
                // One that is sent in parts goes alone: it fails alone, then.
                let size = count > EngineEntry.partByteCount ? Self.bytesAtOnce : count
                defer { byteCount += size }
                return byteCount == 0 || byteCount + size <= Self.bytesAtOnce
            }
            rest = rest.dropFirst(part.count)
            var news: [NewEntry] = []
            var places: [Int] = []
            for place in part {
                do throws(StoreError) {
                    let archive = archives[place]
                    news.append(try newEntry(archive.archive, forKey: archive.key, archive.attributes))
                    places.append(place)
                } catch {
                    results[place] = .failure(error)
                }
            }
            if news.isEmpty { continue }
            do throws(StoreError) {
                let saved = try body(news, places.map { archives[$0] })
                for (index, place) in places.enumerated() {
                    results[place] = saved[index].result
                    // A node of a cluster did not answer; the other nodes did.
                    if saved[index].isOwed, case .failure(let error) = saved[index].result, error.isUnacknowledged {
                        view.owe([news[index].key])
                    }
                }
            } catch {
                if error.isUnacknowledged { view.owe(news.map(\.key)) }
                for place in places { results[place] = .failure(error) }
            }
        }
        return results
    }

    // MARK: Removing

    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        changing(keys, of: keys) { removeTogether($0) }
    }

    private func removeTogether(_ keys: [String]) -> [Result<Bool, StoreError>] {
        var results: [Result<Bool, StoreError>] = []
        results.reserveCapacity(keys.count)
        for start in stride(from: 0, to: keys.count, by: Self.entriesAtOnce) {
            let some = keys[start..<min(start + Self.entriesAtOnce, keys.count)]
            let found = some.compactMap { try? StoreKey($0) }
            if found.count < some.count {
                results += removeOneByOne(some)
                continue
            }
            do throws(StoreError) {
                results += try ask(Insisting(RemoveKeys(found))).map { .success($0) }
            } catch {
                if error.isUnacknowledged { view.owe(found) }
                results += some.map { _ in .failure(error) }
            }
        }
        return results
    }

    private func removeOneByOne(_ keys: ArraySlice<String>) -> [Result<Bool, StoreError>] {
        keys.map { key in Result { () throws(StoreError) in try remove(forKey: key) } }
    }

    // MARK: Looking

    package func information(forKeys keys: [String]) -> [Result<EntryInformation?, StoreError>] {
        asked(for: keys, atOnce: Self.entriesAtOnce) { keys throws(StoreError) in
            try ask(Insisting(LookAtEntries(keys, try knownClock()))).map { .success($0) }
        }
    }

    package func peek(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>] {
        asked(for: keys, atOnce: Self.fetchedAtOnce) { keys throws(StoreError) in
            let clock = try knownClock()
            return zip(keys, try ask(Insisting(ReadEntries(keys)))).map { key, found in
                Result { () throws(StoreError) in
                    let bytes = try EngineEntry.bytes(found.value, EngineEntry.reading)
                    let entry = EngineEntry(key: key, name: found.name, clock: clock, sealing: sealing)
                    return try bytes.map { bytes throws(StoreError) in try entry.archive(in: bytes) }
                }
            }
        }
    }

    /// Asks for the entries of keys, some at a time; there is none for a key that is owed.
    private func asked<Entry>(
        for keys: [String],
        atOnce: Int,
        _ body: ([StoreKey]) throws(StoreError) -> [Result<Entry?, StoreError>]
    ) -> [Result<Entry?, StoreError>] {
        var results: [Result<Entry?, StoreError>] = []
        results.reserveCapacity(keys.count)
        for start in stride(from: 0, to: keys.count, by: atOnce) {
            let some = keys[start..<min(start + atOnce, keys.count)]
            do throws(StoreError) {
                let keys = try some.map { key throws(StoreError) in try StoreKey(key) }
                let found = try body(keys)
                results += zip(keys, found).map { key, entry in view.isOwed(key) ? .success(nil) : entry }
            } catch {
                results += some.map { _ in .failure(error) }
            }
        }
        return results
    }
}

import Foundation

@testable import ArchiveStore
@testable import SharedCache
@testable import TypedCache

/// The result of a fetch.
enum FetchedValue: Equatable {
    case none
    case found(UInt64)
    case failed
}

/// A key as the layers know it.
struct SimulatedKey {
    let text: String
    let entry: EntryKey
    let store: StoreKey

    init(_ text: String) {
        guard let entry = try? EntryKey(text), let store = try? StoreKey(text) else {
            preconditionFailure("a key of the simulation is refused")
        }
        self.text = text
        self.entry = entry
        self.store = store
    }
}

// The fetches of `Cache` and `CacheCore`, with events in place of threads.
extension SimulatedProcess {
    func kept(_ key: SimulatedKey, version: UInt64, _ information: EntryInformation) -> MemoryEntry {
        let deadline = information.attributes.memoryDeadline
        let entry = ValueEntry(version, key: key.entry, cost: 1, deadline: deadline, timing: nil)
        entry.version = information.identity.version
        return entry
    }

    func expect(_ key: SimulatedKey) {
        let memory = memory
        expected.insert(KeyDigest(hashing: key.text), key.entry) { memory.isKnown($0) }
    }

    func followOthers() {
        let changes = view.withView { $0.near.take(at: events.instant) }
        _ = expected.follow(changes, in: &memory)
    }

    /// - Parameter isLatest: whether to fetch from the engine in any case.
    func fetch(_ key: SimulatedKey, isLatest: Bool = false, _ done: @escaping (FetchedValue) -> Void) {
        followOthers()
        var isExpired = false
        if isLatest {
            _ = memory.makeDoubtful(key.entry)
        } else if let entry = table.hit(key.entry) {
            if entry.isFresh(at: now.timeIntervalSinceReferenceDate) {
                oracle.count("hits")
                return done(.found(Self.version(of: entry)))
            }
            isExpired = true
        }
        compare(key) { [self] result in
            switch result {
            case .success(let entry?): done(.found(Self.version(of: entry)))
            case .success(nil): readAndKeep(key, isExpired: isExpired, done)
            case .failure: done(.failed)
            }
        }
    }

    static func version(of entry: MemoryEntry) -> UInt64 { (entry as? ValueEntry<UInt64>)?.value ?? 0 }

    /// Compares memory's entry with the engine's, if it is doubtful: `nil` if the engine has to be read.
    private func compare(_ key: SimulatedKey, _ done: @escaping (Result<MemoryEntry?, StoreError>) -> Void) {
        guard let doubt = memory.doubt(key.entry), doubt.entry.isFresh(at: now.timeIntervalSinceReferenceDate)
        else {
            return done(.success(nil))
        }
        let start = memory.beginRead(key.entry)
        expect(key)
        if variant == .noComparison {
            _ = memory.endCompare(doubt, start, isSame: true)
            return done(.success(doubt.entry))
        }
        make(Insisting(CompareEnds(keys: [key.store]))) { [self] result in
            switch result.flatMap({ $0[0] }) {
            case .success(let version):
                let isSame = version == doubt.entry.version && !isBarred(key)
                oracle.count(isSame ? "compared hits" : "compared changes")
                _ = memory.endCompare(doubt, start, isSame: isSame)
                done(.success(isSame ? doubt.entry : nil))
            case .failure(let error):
                _ = memory.endRead(key.entry, start)
                done(.failure(error))
            }
        }
    }

    private func readAndKeep(_ key: SimulatedKey, isExpired: Bool, _ done: @escaping (FetchedValue) -> Void) {
        if isExpired { _ = memory.remove(forKey: key.entry) }
        let start = memory.beginRead(key.entry)
        expect(key)
        read(key) { [self] result in
            switch result {
            case .success(let found?) where isFresh(found.information):
                let version = oracle.version(in: found.archive, for: key.text)
                let entry = kept(key, version: version, found.information)
                if variant == .noTicket {
                    _ = memory.endRead(key.entry, start)
                    _ = memory.endRead(key.entry, memory.beginRead(key.entry), keeping: entry)
                } else {
                    _ = memory.endRead(key.entry, start, keeping: entry)
                }
                done(.found(version))
            case .success(let found):
                _ = memory.endRead(key.entry, start, isMissing: true)
                guard let found else { return done(.none) }
                removeUseless(found.information, key) { done(.none) }
            case .failure:
                _ = memory.endRead(key.entry, start)
                done(.failed)
            }
        }
    }

    func isFresh(_ entry: EntryInformation) -> Bool { entry.expiresAt.map { now < $0 } ?? true }

    private func isBarred(_ key: SimulatedKey) -> Bool { variant != .noBar && view.isOwed(key.store) }

    /// Reads an entry of the engine, past memory.
    func read(_ key: SimulatedKey, _ done: @escaping (Result<StoredArchive?, StoreError>) -> Void) {
        if isBarred(key) { return done(.success(nil)) }
        make(Insisting(ReadEntries([key.store]))) { [self] result in
            do throws(StoreError) {
                let found = try result.get()[0]
                if isBarred(key) { return done(.success(nil)) }
                let entry = EngineEntry(key: key.store, name: found.name, clock: clock)
                let bytes = try EngineEntry.bytes(found.value, EngineEntry.reading)
                done(.success(try bytes.map { bytes throws(StoreError) in try entry.archive(in: bytes) }))
            } catch {
                if error.code != .unreachable { oracle.report("G6", "\(error)") }
                done(.failure(error))
            }
        }
    }

    private func removeUseless(_ entry: EntryInformation, _ key: SimulatedKey, _ done: @escaping () -> Void) {
        guard let call = try? ChangeSeen.remove(entry, clock, endsLease: false, onlyIfUseless: true) else {
            return done()
        }
        make(Insisting(call)) { [self] result in
            switch result {
            case .success(true): _ = memory.drop(key.entry)
            case .success(false): break
            case .failure: _ = memory.invalidate(key.entry)
            }
            done()
        }
    }
}

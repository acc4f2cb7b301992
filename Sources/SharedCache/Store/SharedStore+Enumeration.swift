import ArchiveStore
import RedisWire

extension SharedStore {
    /// The entries of the current generation and this schema; other keys are not known to be entries.
    ///
    /// Asks for some hundreds at once, and holds no more than the digests of some thousand keys: see ``RecentKeys``.
    package func forEachEntry(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        try forEachValue { value in
            if case .failure(let error) = value, error.code == .foreign { return true }
            return body(value)
        }
    }

    /// As ``forEachEntry(_:)``, but gives also values in the places of entries that no cache has put there, as
    /// `.foreign`.
    package func forEachValue(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        let action = "listing entries"
        guard let generation = try currentGeneration(action) else { return }
        let (names, clock) = (view.names, try knownClock())
        var recent = RecentKeys()
        try scan(names.start(generation)) { found throws(StoreError) in
            let looks = found.compactMap { name -> Look? in
                guard let key = names.key(ofEntry: name, generation), recent.insert(digest(of: key)) else {
                    return nil
                }
                return (try? StoreKey(key)).map { Look(at: $0, names, in: generation, clock) }
            }
            if looks.isEmpty { return true }
            let values = try engine.ask(looks.flatMap(\.commands), action: action)
            for (index, look) in looks.enumerated() {
                guard let entry = entry(at: look.entry, values[2 * index], length: values[2 * index + 1]) else {
                    continue
                }
                // It says nothing about the entry: the server does not answer, or does not let this client look.
                if case .failure(let error) = entry, [.unreachable, .io].contains(error.code) { throw error }
                if !body(entry) { return false }
            }
            return true
        }
    }

    /// The generation that is current now: a listing of a former one would find nothing, and not notice it.
    ///
    /// - Returns: `nil` if there is none, and so no entry.
    private func currentGeneration(_ action: String) throws(StoreError) -> Generation? {
        try ask(FindGeneration(action: action, asksAnyway: true, mayBegin: false))
    }

    /// `nil` for one that is gone.
    private func entry(
        at place: EngineEntry,
        _ tail: RedisValue,
        length: RedisValue
    ) -> Result<EntryInformation, StoreError>? {
        let action = "listing entries"
        do throws(StoreError) {
            try Engine.check(length, doing: action)
            guard let tail = try EngineEntry.bytes(tail, action), let length = length.integer else { return nil }
            return .success(try place.information(ofTail: tail, byteCount: Int(length)))
        } catch {
            return .failure(StoreError(error.code, path: place.name, action: error.action, reason: error.reason))
        }
    }

    package func removeDamagedEntries() throws(StoreError) -> Int {
        let names = view.names
        guard let generation = try currentGeneration("listing entries") else { return 0 }
        var damaged = 0
        var keys: [String] = []
        var byteCount = 0
        var failure: StoreError?
        // Looks at the keys so far; a fetch takes a damaged entry away.
        func look() -> Bool {
            for (key, entry) in zip(keys, peek(forKeys: keys)) {
                do throws(StoreError) {
                    _ = try entry.get()
                } catch {
                    if error.code == .corrupted {
                        damaged += 1
                        failure = failure ?? fetchFailure(of: key)
                    } else if error.code != .foreign {
                        failure = failure ?? error
                    }
                }
            }
            keys = []
            byteCount = 0
            return failure == nil
        }
        try forEachEntry { entry in
            switch entry {
            case .success(let information):
                keys.append(information.key)
                byteCount += information.storedByteCount
            // The last bytes are damaged.
            case .failure(let error): if let key = names.key(ofEntry: error.path, generation) { keys.append(key) }
            }
            return keys.count < 128 && byteCount < 1 << 20 || look()
        }
        _ = look()
        if let failure { throw failure }
        return damaged
    }

    /// Fetches an entry that is damaged.
    private func fetchFailure(of key: String) -> StoreError? {
        do throws(StoreError) {
            _ = try fetch(forKey: key)
            return nil
        } catch {
            return error.code == .corrupted ? nil : error
        }
    }

    /// How many entries there are of each schema, by their names.
    func entryCounts() throws(StoreError) -> [UInt32: Int] {
        let names = view.names
        guard let generation = try currentGeneration("counting entries") else { return [:] }
        var recent = RecentKeys()
        var counts: [UInt32: Int] = [:]
        try scan(names.cache) { found throws(StoreError) in
            for name in found where recent.insert(digest(of: name)) {
                if let schema = names.schema(ofEntry: name, generation) { counts[schema, default: 0] += 1 }
            }
            return true
        }
        return counts
    }

    /// Whether the engine has a generation of this cache. Makes none.
    func hasGeneration() throws(StoreError) -> Bool {
        let action = "looking for a cache"
        try checkUsable()
        let value = try engine.ask([["GET", .text(view.names.generation)]], action: action)[0]
        try Engine.check(value, doing: action)
        return Generation(value) != nil
    }

    /// Gives the names with a beginning to `body`, some hundreds at a time, until it returns `false`. A name may come
    /// several times.
    ///
    /// A key that moves to another server of a cluster could be missed at both: the servers are listed again until no key
    /// can have moved in the meantime. A move spoils one listing for a key, so that four show all keys that move up to three
    /// times.
    func scan(
        _ start: String,
        _ body: ([String]) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let action = "listing entries"
        var servers = try engine.servers(action)
        for _ in 0..<4 {
            for server in servers.engines {
                if try !scan(server, start, body) { return }
            }
            let later = try engine.servers(action)
            if let arrangement = servers.arrangement, arrangement == later.arrangement { return }
            servers = later
        }
    }

    /// More than two thousand million keys are not a server's.
    private static let mostRounds = 1 << 22

    /// Gives the names of one server to `body`; returns whether it wants more.
    private func scan(
        _ server: Engine,
        _ start: String,
        _ body: ([String]) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let action = "listing entries"
        let pattern = RedisCommand.Argument.text(EntryNames.pattern(start))
        var cursor = "0"
        // A cursor that comes again begins a circle (Brent's search).
        var (known, rounds, power) = ("", 0, 1)
        repeat {
            let command: RedisCommand = ["SCAN", .text(cursor), "MATCH", pattern, "COUNT", 512]
            let value = try server.ask([command], action: action)[0]
            try Engine.check(value, doing: action)
            guard let parts = value.elements, parts.count == 2, let next = parts[0].text,
                let found = parts[1].elements
            else { throw StoreError(.unreachable, action: action, reason: "SCAN was answered by something else") }
            cursor = next
            rounds += 1
            if cursor == known || rounds == Self.mostRounds {
                throw StoreError(.unreachable, action: action, reason: "SCAN does not end")
            }
            if rounds == power { (known, power) = (cursor, 2 * power) }
            if try !body(found.compactMap(\.text)) { return false }
        } while cursor != "0"
        return true
    }
}

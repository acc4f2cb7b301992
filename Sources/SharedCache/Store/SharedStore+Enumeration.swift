import ArchiveStore
import RedisWire

extension SharedStore {
    /// The entries of the current generation and this schema; others are not known to be entries.
    ///
    /// Asks for some hundreds at once, and holds a digest of each key, for the engine may name one twice.
    package func forEachEntry(
        _ body: (Result<EntryInformation, StoreError>) -> Bool
    ) throws(StoreError) {
        let action = "listing entries"
        let generation = try ask(FindGeneration(action: action))
        let (names, clock) = (view.names, offset.clock)
        var seen: Set<KeyDigest> = []
        try scan(names.start(generation)) { found throws(StoreError) in
            let keys = found.compactMap { name in
                names.key(ofEntry: name, generation).flatMap { try? StoreKey($0) }.map { (name, $0) }
            }
            .filter { seen.insert(digest(of: $0.1.string)).inserted }
            let commands = keys.flatMap { name, _ -> [RedisCommand] in
                let first = RedisCommand.Argument.integer(-EntryFile.largestTailByteCount)
                return [["GETRANGE", .text(name), first, -1], ["STRLEN", .text(name)]]
            }
            if commands.isEmpty { return true }
            let values = try engine.ask(commands, action: action)
            for (index, (name, key)) in keys.enumerated() {
                let place = EngineEntry(key: key, name: name, clock: clock)
                guard let entry = entry(at: place, values[2 * index], length: values[2 * index + 1]) else {
                    continue
                }
                if !body(entry) { return false }
            }
            return true
        }
    }

    /// `nil` for one that is gone, or is none.
    private func entry(
        at place: EngineEntry,
        _ tail: RedisValue,
        length: RedisValue
    ) -> Result<EntryInformation, StoreError>? {
        do throws(StoreError) {
            guard let tail = try EngineEntry.bytes(tail, "listing entries"), let length = length.integer else {
                return nil
            }
            return .success(try place.information(ofTail: tail, byteCount: Int(length)))
        } catch {
            return error.code == .foreign ? nil : .failure(error)
        }
    }

    package func removeDamagedEntries() throws(StoreError) -> Int {
        var damaged = 0
        var keys: [String] = []
        try forEachEntry { entry in
            if case .success(let information) = entry { keys.append(information.key) }
            return true
        }
        for key in keys {
            do throws(StoreError) {
                _ = try fetch(forKey: key)
            } catch {
                guard error.code == .corrupted else { throw error }
                damaged += 1
            }
        }
        return damaged
    }

    /// Gives the names with a beginning to `body`, some hundreds at a time, until it returns `false`.
    func scan(
        _ start: String,
        _ body: ([String]) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let action = "listing entries"
        let pattern = RedisCommand.Argument.text(EntryNames.pattern(start))
        var cursor = "0"
        repeat {
            let command: RedisCommand = ["SCAN", .text(cursor), "MATCH", pattern, "COUNT", 512]
            let value = try engine.ask([command], action: action)[0]
            try Engine.check(value, doing: action)
            guard let parts = value.elements, parts.count == 2, let next = parts[0].text,
                let found = parts[1].elements
            else { throw StoreError(.unreachable, action: action, reason: "SCAN was answered by something else") }
            cursor = next
            if try !body(found.compactMap(\.text)) { return }
        } while cursor != "0"
    }
}

import ArchiveStore
import RedisWire

extension SharedStore {
    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let key = try StoreKey(key)
        return try owing(key) { () throws(StoreError) in
            try insist(Self.removing) { generation throws(StoreError) -> Attempt<Bool> in
                let name = names.entry(key.string, generation)
                let command = EntryScript(name: name).remove()
                guard let values = try ask([command], in: generation, action: Self.removing) else {
                    return .repeated
                }
                try Engine.check(values[0], doing: Self.removing)
                return .done(values[0].integer == 1)
            }
        }
    }

    static let removing = "removing an entry"

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let key = try StoreKey(entry.key)
        return try insist(Self.removing) { generation throws(StoreError) -> Attempt<Bool> in
            guard let seen = try look(at: key, in: generation, Self.removing) else { return .repeated }
            guard seen.information?.identity == entry.identity else { return .done(false) }
            let command = EntryScript(name: seen.name).remove(ifEnding: seen.end)
            guard let values = try ask([command], in: generation, action: Self.removing) else { return .repeated }
            try Engine.check(values[0], doing: Self.removing)
            // Otherwise others have changed it meanwhile, and maybe only its deadline.
            return values[0].integer == 1 ? .done(true) : .repeated
        }
    }

    /// Begins a new generation, which takes one command, and then removes the entries of the former ones.
    package func removeAll() throws(StoreError) {
        let action = "removing all entries"
        try checkUsable()
        do throws(StoreError) {
            try renewGeneration(action)
        } catch {
            debts.oweGeneration()
            throw error
        }
        debts.settleAll()
        // No reader finds these any more: the engine gets its memory back now, and if not, by their ends.
        try? removeFormerGenerations()
    }

    /// Removes the entries that no reader finds any more.
    private func removeFormerGenerations() throws(StoreError) {
        let action = "removing all entries"
        try scan(names.cache) { found throws(StoreError) in
            // Asked for after the names: if one of them is of a later generation than the one that this finds, then it
            // is a former one all the same, for no generation comes back.
            let value = try engine.ask([["GET", .text(names.generation)]], action: action)[0]
            guard let current = Generation(value) else { return false }
            let former = found.filter { $0 != names.generation && !names.isEntry($0, of: current) }
            if former.isEmpty { return true }
            _ = try engine.ask([RedisCommand(["UNLINK"] + former.map { .text($0) })], action: action)
            return true
        }
    }

    /// Removes the entries that no reader finds any more, as ``removeAll()`` does, if that was interrupted.
    package func compact() throws(StoreError) -> Int {
        try checkUsable()
        try removeFormerGenerations()
        return 0
    }

    // MARK: Debts

    /// Has `body` change a key's entry; if the engine does not acknowledge that, the entry is owed, and not
    /// read here.
    func owing<Result>(_ key: StoreKey, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try checkUsable()
        // Paid later, it would remove this save, too.
        if debts.owesGeneration { try payDebts() }
        return try debts.owing(key, body)
    }

    /// Has the engine remove the entries whose save or removal it did not acknowledge.
    ///
    /// - Throws: `.unreachable`: the rest is still owed.
    package func payDebts() throws(StoreError) {
        let action = "removing entries whose change failed"
        try debts.pay { owed throws(StoreError) in
            switch owed {
            case .generation: try renewGeneration(action)
            case .keys(let keys):
                while true {
                    let generation = try generation(action)
                    let commands = keys.map { EntryScript(name: names.entry($0.string, generation)).remove() }
                    guard let values = try ask(commands, in: generation, action: action) else { continue }
                    for value in values { try Engine.check(value, doing: action) }
                    return
                }
            }
        }
    }
}

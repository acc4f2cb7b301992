import ArchiveStore
import RedisWire

extension SharedStore {
    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let key = try StoreKey(key)
        return try change(key, Insisting(RemoveKeys([key])))[0]
    }

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let isOfUse = entry.attributes.freshness(at: .now) != .useless
        let clock = try knownClock()
        // The server's clock decides whether an entry is of no use: this machine's may be wrong.
        let call = Insisting(
            try ChangeSeen.remove(entry, clock, endsLease: isOfUse, onlyIfUseless: !isOfUse)
        )
        // Nothing is read of an expired entry anyway.
        return isOfUse ? try change(try StoreKey(entry.key), call) : try ask(call)
    }

    /// Begins a new generation, which takes one command, and then removes the entries of the former ones. An engine whose
    /// memory is full does both, too.
    package func removeAll() throws(StoreError) {
        try checkUsable()
        try ask(BeginGeneration(action: "removing all entries"))
        tellOfRenewal(self)
        bestEffort("no reader finds entries of former generations; they expire, or `compact` removes them") {
            () throws(StoreError) in try removeFormerGenerations()
        }
    }

    /// Removes the entries that no reader finds any longer.
    private func removeFormerGenerations() throws(StoreError) {
        let action = "removing all entries"
        let names = view.names
        try scan(names.cache) { found throws(StoreError) in
            // Asked for after the names: if one of them is of a later generation than the one that this finds, then it
            // is a former one all the same, for no generation comes back. Where there is none, all are of former ones.
            let value = try engine.ask([["GET", .text(names.generation)]], action: action)[0]
            let current = Generation(value)
            guard current != nil || value == .null else { return false }
            let former = found.filter { name in
                name != names.generation && !(current.map { names.isEntry(name, of: $0) } ?? false)
            }
            if former.isEmpty { return true }
            // Each may be on another node of a cluster.
            _ = try engine.ask(former.map { ["UNLINK", .text($0)] }, action: action)
            return true
        }
    }

    /// Removes the entries that no reader finds any longer, as ``removeAll()`` does, if that was interrupted.
    package func compact() throws(StoreError) -> Int {
        try checkUsable()
        try removeFormerGenerations()
        return 0
    }

    /// Asks for the keys again, so that saves use the current one; writes nothing again.
    package func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        try checkUsable()
        var result = Rekeying()
        guard let sealing else { return result }
        try sealing.askForKeys()
        // Values on the server may have any key.
        result.formerKeys = [0]
        return result
    }

    // MARK: Debts

    /// Changes a key's entry; if the engine does not acknowledge that, the entry is owed, and not read here.
    func change<Call: EngineCall>(_ key: StoreKey, _ call: Call) throws(StoreError) -> Call.Outcome {
        try changing(key) { () throws(StoreError) in try ask(Owing(key, call)) }
    }

    /// Has `body` change a key's entry, after the key's debt was paid: a change under a condition would leave an entry that
    /// is owed.
    func changing<Result>(_ key: StoreKey, _ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        try checkUsable()
        // Paid later, it would remove this save, too.
        if view.debts.withList({ $0.owesGeneration }) { try payDebts() }
        // The keys of a payment that is on its way are owed until the server answers.
        if !view.isOwed(key) { return try body() }
        return try view.debts.payment.withLock { _ throws(StoreError) in
            if view.isOwed(key) { try ask(PayKeys([key])) }
            return try body()
        }
    }

    /// Has the engine remove the entries whose save or removal it did not acknowledge, also once the store is closed.
    ///
    /// - Throws: `.unreachable`: the rest is still owed.
    package func payDebts() throws(StoreError) {
        let owesAll = try view.debts.payment.withLock { _ throws(StoreError) in
            let owesAll = view.debts.withList { $0.owesGeneration }
            try engine.make(PayDebts(), view)
            return owesAll
        }
        if owesAll { tellOfRenewal(self) }
    }
}

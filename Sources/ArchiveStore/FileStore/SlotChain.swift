/// The slots of one name. All but ``SlotReader/content(_:_:)`` of slot 0 is done while the shard is locked.
///
/// Slots have no gaps, so the first absent one ends a search, and no entry of this name exists if slot 0 is
/// absent. That holds at every instant: an entry is added after the last one, and one that is removed is
/// replaced by the last one in the same rename.
struct SlotChain {
    let reader: SlotReader
    let quarantine: Quarantine
    let name: EntryName
    /// The names that keys should have.
    let names: EntryNames
    /// Is told of every change.
    let journal: Journal

    /// The result of a search.
    struct Found {
        var match: (slot: Int, entry: EntryFile, status: FileStatus)?
        var damaged: [(slot: Int, reason: String)] = []
        /// Why an entry that may be the one can be neither used nor thrown away.
        var obstacle: StoreError?
        /// How many slots were looked at, all taken.
        var count = 0
    }

    func content(_ slot: Int, _ extent: SlotContent.Extent) throws(StoreError) -> SlotContent {
        try reader.content(name, slot: slot, extent)
    }

    /// Looks for `key`, slot by slot.
    func find(_ key: StoreKey, _ extent: SlotContent.Extent) throws(StoreError) -> Found {
        var found = Found()
        while true {
            let slot = found.count
            switch try content(slot, extent) {
            case .absent:
                return found
            case .entry(let entry, let status) where entry.holds(key):
                found.match = (slot, entry, status)
                return found
            case .entry(let entry, _):
                if !belongsHere(entry) { found.damaged.append((slot, "its key has another name")) }
            case .fault(.damaged(let reason)):
                found.damaged.append((slot, reason))
            case .fault(let fault):
                found.obstacle = found.obstacle ?? error(fault, slot: slot)
            }
            found.count += 1
        }
    }

    /// The slot in which `key` is to be saved: its own, that of a lost entry, or a new one; and the entry that was
    /// saved there for `key` before.
    func place(
        saving key: StoreKey
    ) throws(StoreError) -> (slot: Int, former: (entry: EntryFile, status: FileStatus)?) {
        switch try content(0, .tail) {
        case .absent: return (0, nil)
        case .entry(let entry, let status) where entry.holds(key): return (0, (entry, status))
        default: break
        }
        let found = try find(key, .information)
        if let match = found.match { return (match.slot, (match.entry, match.status)) }
        if let damaged = found.damaged.first { return (damaged.slot, nil) }
        if let obstacle = found.obstacle { throw obstacle }
        return (found.count, nil)
    }

    /// Takes the file at `slot`, which holds `key` if that is known, out of the way.
    func vacate(_ slot: Int, of key: StoreKey?) throws(StoreError) {
        warn()
        var last = slot
        while try removing(slot, { () throws(SystemError) in try exists(last + 1) }) { last += 1 }
        while last > slot {
            // Were slots missing once, an old entry of the same key may stand behind: it must not come back.
            guard let key, case .entry(let entry, _) = try content(last, .tail), entry.holds(key) else {
                break
            }
            try removing(last) { () throws(SystemError) in try remove(last) }
            last -= 1
        }
        try removing(slot) { () throws(SystemError) in
            if last > slot { try move(last, to: slot) } else { try remove(slot) }
        }
        tell()
    }

    /// The size of the files of this name.
    func size() throws(StoreError) -> NameSize {
        var size = NameSize.zero
        while true {
            let slot = size.count
            let status = try removing(slot) { () throws(SystemError) in
                try reader.directory.status(name.fileName(slot: slot))
            }
            guard let status else { return size }
            size.byteCount += min(status.byteCount, JournalRecord.mostBytes)
            size.count += 1
        }
    }

    /// When the entry in the first slot was stored, in seconds since 2001-01-01 UTC; long ago if it cannot be read.
    func storedAt() throws(StoreError) -> Double {
        if case .entry(let entry, _) = try content(0, .tail) { entry.footer.storedAt } else { -.infinity }
    }

    /// Their size with a file of so many bytes at `slot`, if it is `former` now.
    func size(_ former: NameSize, putting byteCount: Int, at slot: Int) throws(StoreError) -> NameSize {
        guard slot < former.count else {
            return NameSize(byteCount: former.byteCount + byteCount, count: former.count + 1)
        }
        let status = try removing(slot) { () throws(SystemError) in
            try reader.directory.status(name.fileName(slot: slot))
        }
        let replaced = min(status?.byteCount ?? 0, JournalRecord.mostBytes)
        return NameSize(byteCount: former.byteCount - replaced + byteCount, count: former.count)
    }

    /// Tells the journal, if there is one, the size after a change.
    func tell() {
        bestEffort("the change is made already") {
            if try journal.isKept() { journal.tell(name, try size()) }
        }
    }

    /// Tells the journal that something is about to be removed, if there is one.
    private func warn() {
        bestEffort("the change is told afterwards") {
            if try journal.isKept() { journal.warn(of: name) }
        }
    }

    private func exists(_ slot: Int) throws(SystemError) -> Bool {
        try reader.directory.status(name.fileName(slot: slot)) != nil
    }

    private func move(_ slot: Int, to target: Int) throws(SystemError) {
        let names = (name.fileName(slot: slot), name.fileName(slot: target))
        try reader.directory.rename(names.0, to: names.1, in: reader.directory)
    }

    private func remove(_ slot: Int) throws(SystemError) {
        try reader.directory.remove(name.fileName(slot: slot))
    }

    private func removing<Result>(
        _ slot: Int,
        _ body: () throws(SystemError) -> Result
    ) throws(StoreError) -> Result {
        try attempt("removing an entry", path(slot), body)
    }

    /// Removes all slots, the last one first, so that there is no gap at any instant.
    func removeAll(lastSeen: Int) throws(StoreError) {
        warn()
        var last = lastSeen
        while try removing(last, { () throws(SystemError) in try exists(last + 1) }) { last += 1 }
        for slot in stride(from: last, through: 0, by: -1) {
            try removing(slot) { () throws(SystemError) in try remove(slot) }
        }
        tell()
    }

    /// Gives the damaged file at `slot` a name in quarantine as well, if that can be done.
    func keep(_ slot: Int) {
        bestEffort("the file is lost anyway") {
            try quarantine.keep(name, slot: slot, of: reader.directory)
        }
    }

    /// Takes damaged files out of the way and returns the error that reports the first one.
    func takeAway(_ damaged: [(slot: Int, reason: String)]) -> StoreError? {
        guard let first = damaged.first else { return nil }
        var reason = first.reason
        // From the last one on, so that none is moved before its turn.
        for (slot, _) in damaged.reversed() {
            do {
                keep(slot)
                try vacate(slot, of: nil)
            } catch {
                reason += "; it could not be removed: \(error.reason)"
            }
        }
        return StoreError(.corrupted, path: path(first.slot), action: "reading an entry", reason: reason)
    }

    func path(_ slot: Int) -> String {
        reader.path + "/" + name.fileName(slot: slot)
    }

    /// Whether the entry's key has this name: else its file was given the name of another entry.
    func belongsHere(_ entry: EntryFile) -> Bool {
        do {
            return names.name(of: try entry.key()) == name
        } catch {
            return false
        }
    }

    func error(_ fault: EntryFault, slot: Int) -> StoreError {
        fault.error(path: path(slot), limit: reader.limit)
    }
}

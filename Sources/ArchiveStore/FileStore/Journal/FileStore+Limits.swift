import Foundation

extension FileStore {
    package func setUser(_ user: any StoreUser) {
        self.user.withLock { $0 = StoreUserReference(user) }
    }

    /// How many victims may fail to be removed before the call that needs the room throws.
    private static var mostFailures: Int { 8 }

    // MARK: Room

    /// Evicts entries until there is room for `name` to take `size`, as far as the ledger knows.
    ///
    /// - Parameter now: in seconds since 2001-01-01 UTC. Entries that are due go before all others.
    func makeRoom(
        for size: NameSize,
        of name: EntryName,
        in directory: StoreDirectory,
        now: Double
    ) throws(StoreError) {
        guard settings.isLimited else { return }
        try list(directory)
        let hasRoom = directory.journal.withLedger { $0.hasRoom(size, for: name) }
        if hasRoom == false, directory.lists.isTimeToSweep(now) {
            try removeExpired(at: Date(timeIntervalSinceReferenceDate: now), removed: tellUserOfExpiry)
        }
        // Not the entry that the save replaces: the save itself frees its room.
        try giveUp(in: directory, told: tellUser, keeping: name) {
            $0.hasRoom(size, for: name) ? nil : $0.nextVictim()
        }
    }

    /// Evicts entries until no victim is chosen any longer.
    ///
    /// - Parameters:
    ///   - told: Is given each entry after its removal, without any lock held.
    ///   - kept: A name that is not a victim.
    ///   - keepsUnreadable: Whether names stay of which an entry cannot be read, but may be by another version.
    ///   - choose: The next victim.
    func giveUp(
        in directory: StoreDirectory,
        told: (EntryInformation) -> Void,
        keeping kept: EntryName? = nil,
        keepsUnreadable: Bool = false,
        choosing choose: @escaping (inout Ledger) -> EntryName?
    ) throws(StoreError) {
        let withLedger = directory.journal.withLedger as ((inout Ledger) -> EntryName?) -> EntryName??
        try giveUp(
            in: directory,
            told: told,
            by: withLedger,
            keeping: kept,
            keepsUnreadable: keepsUnreadable,
            choosing: choose
        )
    }

    /// As ``giveUp(in:told:keeping:choosing:)``, by a ledger that `withLedger` gives.
    func giveUp(
        in directory: StoreDirectory,
        told: (EntryInformation) -> Void,
        by withLedger: ((inout Ledger) -> EntryName?) -> EntryName??,
        keeping kept: EntryName? = nil,
        keepsUnreadable: Bool = false,
        choosing choose: @escaping (inout Ledger) -> EntryName?
    ) throws(StoreError) {
        sparing.withLock { $0.noteCall() }
        // Victims that stay are kept apart until the end, so that they are not chosen again.
        var spared: Set<EntryName> = []
        var failures = 0
        defer {
            _ = withLedger { ledger in
                for name in spared { ledger.spare(name) }
                return nil
            }
        }
        while let name = withLedger(choose) ?? nil {
            // If it is chosen a second time, there is no other one.
            if name == kept, spared.insert(name).inserted { continue }
            do throws(StoreError) {
                let isSparing = !spared.contains(name)
                if try !evict(
                    name,
                    in: directory,
                    sparing: isSparing,
                    keepsUnreadable: keepsUnreadable,
                    told: told
                ) {
                    // Nothing else is left.
                    guard spared.insert(name).inserted else { break }
                    continue
                }
            } catch {
                failures += 1
                spared.insert(name)
                if failures >= Self.mostFailures { throw error }
                continue
            }
            spared.remove(name)
            // A ledger that does not follow the journal learns of a removal here only.
            _ = withLedger { ledger in
                if !ledger.isFollowing { ledger.apply(JournalRecord(.holds, of: name, writer: 0)) }
                return nil
            }
        }
    }

    func tellUser(_ entry: EntryInformation) {
        user.withLock { $0.user }?.didEvict(entry)
    }

    private func tellUserOfExpiry(_ entry: EntryInformation) {
        user.withLock { $0.user }?.didExpire(entry)
    }

    /// Removes the entries of a name, to make room, unless they were saved over in the meantime.
    ///
    /// - Parameters:
    ///   - sparing: Whether those in use are spared.
    ///   - keepsUnreadable: As in ``giveUp(in:told:keeping:keepsUnreadable:choosing:)``.
    /// - Returns: `false` if one of them is to stay.
    private func evict(
        _ name: EntryName,
        in directory: StoreDirectory,
        sparing: Bool,
        keepsUnreadable: Bool,
        told: (EntryInformation) -> Void
    ) throws(StoreError) -> Bool {
        let shard = directory.shards[name.shard]
        // Made if it is missing, for it takes a lock to tell that nothing is there.
        guard let folder = try shard.directory(create: true) else { return true }
        guard try shard.isNamed(folder) else {
            throw StoreError(SystemError(number: ENOENT), path: shard.path, action: "making room")
        }
        let chain = chain(name, in: folder, of: shard, directory)
        if keepsUnreadable, try hasUnreadableEntry(chain) { return false }
        if sparing, let user = user.withLock({ $0.user }), self.sparing.withLock({ $0.take() }) {
            for entry in try entries(of: chain) where user.isInUse(entry.key) { return false }
        }
        var removed: [EntryInformation] = []
        // Told even if the device cannot be waited for.
        defer { removed.forEach(told) }
        try shard.withLock(on: folder) { () throws(StoreError) in
            guard try directory.journal.isStillVictim(name) else { return }
            let entries = try entries(of: chain)
            let size = try chain.size()
            try chain.removeAll(lastSeen: max(0, size.count - 1))
            removed = entries
        }
        return true
    }

    private func hasUnreadableEntry(_ chain: SlotChain) throws(StoreError) -> Bool {
        var slot = 0
        while true {
            switch try chain.content(slot, .tail) {
            case .absent: return false
            case .fault(.damaged), .entry: slot += 1
            case .fault: return true
            }
        }
    }

    /// Those entries of a name that can be read.
    private func entries(of chain: SlotChain) throws(StoreError) -> [EntryInformation] {
        var entries: [EntryInformation] = []
        var slot = 0
        while true {
            switch try chain.content(slot, .tail) {
            case .absent: return entries
            case .fault: break
            case .entry(let entry, let status):
                // Damaged ones go untold: their keys are not known.
                if case .success(let key) = Result(catching: { () throws(EntryFault) in try entry.key() }) {
                    entries.append(information(entry, status, of: key))
                }
            }
            slot += 1
        }
    }

    /// Evicts, in the background, the entries that the policy evicts before the limits are reached.
    func keepHeadroom(in directory: StoreDirectory) {
        guard directory.journal.withLedger({ $0.isOverfull }) == true else { return }
        directory.root.layer.start(on: upkeep) { [weak self, weak directory] in
            guard let self, let directory else { return }
            bestEffort("a save that needs the room evicts the entry, or reports the failure") {
                try self.giveUp(in: directory, told: self.tellUser) { $0.nextDeparting() }
            }
        }
    }

    // MARK: The volume

    /// Evicts entries until so many bytes more leave enough of the volume free.
    ///
    /// - Throws: `.io` with `ENOSPC` if nothing is left to evict.
    func makeFreeSpace(for byteCount: Int, in directory: StoreDirectory) throws(StoreError) {
        guard settings.minimumFreeByteCount > 0 else { return }
        func shortage() throws(StoreError) -> Int {
            let (needed, overflow) = settings.minimumFreeByteCount.addingReportingOverflow(byteCount)
            let free = try attempt("looking for free space", directory.path, directory.root.freeByteCount())
            return (overflow ? .max : needed) - free
        }
        while case let shortage = try shortage(), shortage > 0 {
            guard try giveUp(atLeast: shortage, in: directory) else {
                throw .volumeKeptFree(settings.minimumFreeByteCount, path: directory.path)
            }
        }
    }

    /// Evicts entries of so many bytes together, and says whether there were any.
    func giveUp(atLeast byteCount: Int, in directory: StoreDirectory) throws(StoreError) -> Bool {
        try list(directory)
        guard let total = directory.journal.withLedger({ $0.total }), total.count > 0 else { return false }
        let enough = total.byteCount - byteCount
        try giveUp(in: directory, told: tellUser) {
            $0.total.count == 0 || $0.total.byteCount <= enough ? nil : $0.nextVictim()
        }
        return directory.journal.withLedger { $0.total.count < total.count } ?? false
    }

    // MARK: Listing

    /// Compares the ledger with the entries' files, unless that was done since it was begun.
    ///
    /// Lists one shard after another, while it is locked: about a microsecond for each entry.
    func list(_ directory: StoreDirectory) throws(StoreError) {
        let journal = directory.journal
        guard try journal.namesToList() != nil else { return }
        try journal.listing.withLock { _ throws(StoreError) in
            while let (names, generation) = try journal.namesToList() {
                for (index, shard) in directory.shards.enumerated() {
                    guard let folder = try shard.directory(create: !names[index].isEmpty) else { continue }
                    try shard.withLock(on: folder) { () throws(StoreError) in
                        try journal.correct(try sizes(in: folder, of: shard, index), names: names[index])
                    }
                }
                try journal.finishListing(generation)
            }
        }
    }

    func sizes(
        in folder: Directory,
        of shard: Shard,
        _ index: Int
    ) throws(StoreError) -> [EntryName: NameSize] {
        var sizes: [EntryName: NameSize] = [:]
        for (name, slot) in try names(in: folder, of: shard, index) {
            let status = try attempt("listing entries", shard.path, folder.status(name.fileName(slot: slot)))
            guard let status else { continue }
            sizes[name, default: .zero].byteCount += min(status.byteCount, JournalRecord.mostBytes)
            sizes[name, default: .zero].count += 1
        }
        return sizes
    }

    // MARK: Others

    package func digest(of key: String) -> KeyDigest {
        do throws(StoreError) {
            let key = try StoreKey(key)
            if settings.keys == nil { return EntryNames(nil, naming: naming).name(of: key).digest }
            // Without a directory there is no entry; one that is made later reports all at first.
            return try currentIfPresent()?.names.name(of: key).digest ?? .none
        } catch {
            // A string that is not a key has no entry, and no change of it is ever reported; nor of a store that cannot be opened.
            return .none
        }
    }

    /// Implementation: one `fstatat` where nothing has changed. Where it begins to follow a journal, it waits for
    /// changes under way in all shards, since they may have been announced before.
    package func changesByOthers() throws(StoreError) -> ChangesByOthers {
        guard settings.followsOthers else { return .keys([]) }
        do throws(StoreError) {
            guard let directory = try refreshed() else { return .everything }
            defer { withExtendedLifetime(directory) {} }
            if let changes = try directory.follower.changes() { return changes }
            do throws(StoreError) {
                for shard in directory.shards {
                    guard let folder = try shard.directory(create: false) else { continue }
                    try shard.withLock(on: folder, waits: false) {}
                }
            } catch {
                // The next call must say as much.
                directory.follower.beginAgain()
                throw error
            }
            return .everything
        } catch {
            // Where no journal can be made, no entry in memory can be relied on, and all else goes on.
            switch error.errorNumber {
            case EACCES, EPERM, EROFS, ENOSPC, EDQUOT, ENOENT: return .everything
            default: throw error
            }
        }
    }
}

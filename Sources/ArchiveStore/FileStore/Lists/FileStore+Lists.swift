import Foundation

extension FileStore {
    /// The fate of an entry that was found in a list.
    private enum Fate {
        case removed
        /// Listed, in the same or another list.
        case listed(in: String)
        case left
    }

    /// Implementation: looks at the lists of `.wheel` for spans that have begun, and at the entries named there. Two
    /// processes that do so at once look at some entries twice.
    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        guard let directory = try refreshed() else { return }
        defer { withExtendedLifetime(directory) {} }
        let now = date.timeIntervalSinceReferenceDate
        let names = directory.names
        try listAll(in: directory)
        do throws(StoreError) {
            try askingForKeys { () throws(StoreError) in
                try work(on: EntryLists.wheelName, in: directory, told: removed) { list in
                    names.bucket(of: list).map { $0.start <= now } ?? false
                } deciding: { attributes in
                    guard let deadline = attributes.usableUntil?.timeIntervalSinceReferenceDate else {
                        return .left
                    }
                    if deadline <= now { return .removed }
                    let bucket = WheelBucket(deadline: deadline, now: now)
                    return deadline < .infinity ? .listed(in: names.list(of: bucket)) : .left
                }
            }
        } catch {
            // An entry that cannot be read serves no caller here.
            guard error.code == .locked else { throw error }
        }
    }

    /// Implementation: looks at the list of `.tags` for this tag, and at the entries named there.
    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        guard let directory = try refreshed() else { return }
        defer { withExtendedLifetime(directory) {} }
        try listAll(in: directory)
        let name = directory.names.list(ofTag: tag)
        try askingForKeys { () throws(StoreError) in
            try work(on: EntryLists.tagsName, in: directory, telling: removing, told: removed) {
                $0 == name
            } deciding: {
                $0.has(tag: tag) ? .removed : .left
            }
        }
    }

    /// Lists an entry that is about to replace another one, while its shard is locked.
    func list(
        _ entry: EntryFile,
        _ name: EntryName,
        replacing former: EntryFile?,
        in directory: StoreDirectory
    ) throws(StoreError) {
        // Most entries have neither.
        guard entry.footer.expiresAt != .infinity || entry.footer.attributesByteCount > 0 else { return }
        let now = entry.footer.storedAt
        let lists = try directory.lists.add(name, entry.attributes, replacing: former?.attributes, now: now)
        for (folder, list) in lists { shorten(list, of: folder, in: directory) }
    }

    /// Writes a list again, in the background, with the names that still belong in it.
    private func shorten(_ list: String, of folder: String, in directory: StoreDirectory) {
        // A forked process would have to do it now, while a shard is locked; another process does it some time.
        guard directory.root.layer.hasQueues else { return }
        upkeep.async { [weak self, weak directory] in
            guard let self, let directory else { return }
            bestEffort("the list stays as long as it is, in two files at worst") { () throws(StoreError) in
                try self.work(on: folder, in: directory, told: { _ in }) {
                    $0 == list
                } deciding: { attributes in
                    if let bucket = directory.names.bucket(of: list) {
                        guard let deadline = attributes.usableUntil?.timeIntervalSinceReferenceDate else {
                            return .left
                        }
                        return deadline >= bucket.start && deadline < .infinity ? .listed(in: list) : .left
                    }
                    let isTagged = attributes.tags.contains { directory.names.list(ofTag: $0) == list }
                    return isTagged ? .listed(in: list) : .left
                }
            }
        }
    }

    /// Looks at every entry that is named in some lists, then deletes those lists.
    ///
    /// Other callers may work on the same lists: each looks at all entries that were named in them when it began.
    ///
    /// - Parameters:
    ///   - telling: Is given each entry right before its removal, with its shard locked.
    ///   - told: Is given each entry that was removed, at the end, without any lock held.
    private func work(
        on folder: String,
        in directory: StoreDirectory,
        telling: (EntryInformation) -> Void = { _ in },
        told: (EntryInformation) -> Void,
        where isChosen: (String) -> Bool,
        deciding fate: (EntryAttributes) -> Fate
    ) throws(StoreError) {
        guard let lists = try directory.lists.lists(in: folder) else { return }
        var removed: [EntryInformation] = []
        defer { removed.forEach(told) }
        var failure: StoreError?
        try directory.lists.attempting { () throws(SystemError) in
            for (file, names) in try lists.take(where: isChosen) {
                var isDone = true
                for name in names {
                    do throws(StoreError) {
                        try look(
                            at: name,
                            folder,
                            in: directory,
                            telling: telling,
                            removed: &removed,
                            deciding: fate
                        )
                    } catch {
                        // It is looked at again the next time.
                        failure = failure ?? error
                        isDone = false
                    }
                }
                if isDone { try lists.finish(file) }
            }
        }
        if let failure { throw failure }
    }

    private func look(
        at name: EntryName,
        _ lists: String,
        in directory: StoreDirectory,
        telling: (EntryInformation) -> Void,
        removed: inout [EntryInformation],
        deciding fate: (EntryAttributes) -> Fate
    ) throws(StoreError) {
        let shard = directory.shards[name.shard]
        guard let folder = try shard.refreshedDirectory() else { return }
        let chain = chain(name, in: folder, of: shard, directory)
        try shard.withLock(on: folder) { () throws(StoreError) in
            let count = try chain.size().count
            // The last slots first, so that none is moved before its turn.
            for slot in (0..<count).reversed() {
                let content = try chain.content(slot, .tail)
                // It may be one that is looked for: its name must not be forgotten.
                if case .fault(.locked(let reason)) = content { throw chain.error(.locked(reason), slot: slot) }
                guard case .entry(let entry, let status) = content, chain.belongsHere(entry),
                    case .success(let key) = Result(catching: { () throws(EntryFault) in try entry.key() })
                else { continue }
                let information = information(entry, status, of: key)
                switch fate(information.attributes) {
                case .left: break
                case .listed(let list): try directory.lists.add(name, to: list, of: lists)
                case .removed:
                    telling(information)
                    try chain.vacate(slot, of: key)
                    removed.append(information)
                }
            }
        }
    }

    /// Lists all entries, unless that was done once in this directory: those from before there were lists.
    private func listAll(in directory: StoreDirectory) throws(StoreError) {
        guard try !directory.lists.isComplete() else { return }
        for (index, shard) in directory.shards.enumerated() {
            guard let folder = try shard.refreshedDirectory() else { continue }
            for (name, _) in try lastSlots(in: folder, of: shard, index) {
                let chain = chain(name, in: folder, of: shard, directory)
                try shard.withLock(on: folder) { () throws(StoreError) in
                    for slot in 0..<(try chain.size().count) {
                        guard case .entry(let entry, _) = try chain.content(slot, .tail) else { continue }
                        try list(entry, name, replacing: nil, in: directory)
                    }
                }
            }
        }
        try directory.lists.markComplete()
    }
}

import Foundation

extension FileStore {
    /// How many files are written, and open, before the first of them is waited for.
    private static var draftsAtOnce: Int { 32 }

    /// Implementation: as a save, but if the store is durable, some files are written before the first of them is
    /// waited for (`fsync`), each one still before its rename; and each directory of entries with changed names is
    /// waited for once, at the end.
    package func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        guard settings.isDurable else { return saveOneByOne(archives) }
        var folders = ChangedFolders()
        defer { withExtendedLifetime(folders) {} }
        var results: [Result<Change<EntryInformation?>, StoreError>] = []
        var rest = archives[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.draftsAtOnce)
            rest = rest.dropFirst(Self.draftsAtOnce)
            let drafts = some.map { new in Result { () throws(StoreError) in try draft(of: new) } }
            let finished = drafts.map { draft in
                draft.flatMap { draft in Result { () throws(StoreError) in (draft, try finish(draft)) } }
            }
            for (new, draft) in zip(some, finished) {
                results.append(Result { () throws(StoreError) in try place(draft, of: new, &folders) })
            }
        }
        return folders.waiting(results)
    }

    private func draft(of new: NewArchive) throws(StoreError) -> EntryDraft {
        let (key, content) = try content(new)
        let byteCount = storedByteCount(of: content)
        try settings.checkEntry(byteCount: byteCount)
        let directory = try current()
        try makeFreeSpace(for: byteCount, in: directory)
        return try draft(of: content, key, in: directory)
    }

    /// Gives an entry's file its name, or saves it alone where that needs another directory, descriptors or room.
    private func place(
        _ finished: Result<(EntryDraft, FileStatus), StoreError>,
        of new: NewArchive,
        _ folders: inout ChangedFolders
    ) throws(StoreError) -> Change<EntryInformation?> {
        do throws(StoreError) {
            let (draft, status) = try finished.get()
            // Other files were written since this was last checked.
            guard try draft.shard.isNamed(draft.folder) else {
                draft.session.discard(draft.file.name)
                throw StoreError(SystemError(number: ENOENT), path: draft.shard.path, action: "saving an archive")
            }
            let folder = folders.insert(draft.folder, of: draft.shard, in: draft.directory)
            return Change(outcome: try place(draft, status, if: nil, waits: folder == nil), folder: folder)
        } catch {
            // A save of one has more ways out.
            let isFull = error.isOutOfSpace && settings.isLimited
            guard isFull || error.isMissingFile || error.isOutOfDescriptors || error.code == .locked else {
                throw error
            }
            let saved = try save(new.archive, forKey: new.key, attributes: new.attributes, if: nil)
            return Change(outcome: saved, folder: nil)
        }
    }

    /// Implementation: as a removal, but each directory of entries with changed names is waited for once, at the end.
    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        var folders = ChangedFolders()
        defer { withExtendedLifetime(folders) {} }
        let results = keys.map { text in
            Result { () throws(StoreError) -> Change<Bool> in
                let key = try StoreKey(text)
                guard let directory = try currentIfPresent() else { return Change(outcome: false, folder: nil) }
                var changed: Int?
                let isRemoved = try withChain(of: key) { chain, shard throws(StoreError) in
                    let folder = chain.reader.directory
                    // Also if nothing is there: if waiting for a removal failed, a repeated removal waits for it; and another
                    // process may have removed the entry without waiting.
                    changed = folders.insert(folder, of: shard, in: directory)
                    let isRemoved = try shard.withLock(on: folder, waits: false) { () throws(StoreError) in
                        try remove(key, from: chain)
                    }
                    if changed == nil { try shard.wait(for: folder, includingOthers: true) }
                    return isRemoved ? true : nil
                }
                return Change(outcome: isRemoved ?? false, folder: changed)
            }
        }
        return folders.waiting(results)
    }
}

/// The result of one of several changes.
private struct Change<Outcome> {
    let outcome: Outcome
    /// The number of the directory in which names may have changed; `nil` if it is waited for already.
    let folder: Int?
}

/// The directories of entries that are to be waited for after some changes.
private struct ChangedFolders {
    private struct Changed {
        let folder: Directory
        let shard: Shard
        /// Held until the end: closing the store waits until no caller holds it.
        let directory: StoreDirectory

        func wait() -> Result<Void, StoreError> {
            Result { () throws(StoreError) in try shard.wait(for: folder, includingOthers: true) }
        }
    }

    /// By number; `nil` once it was waited for.
    private var changed: [Changed?] = []
    private var waits: [Int: Result<Void, StoreError>] = [:]
    /// The numbers that are not waited for yet.
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// Takes in a directory of entries before its names are changed.
    ///
    /// - Returns: its number; `nil` if it must be waited for at once, since there are too few descriptors to keep it
    ///   open.
    mutating func insert(_ folder: Directory, of shard: Shard, in directory: StoreDirectory) -> Int? {
        if let number = numbers[ObjectIdentifier(shard)] {
            if changed[number]?.folder === folder { return number }
            // The former one is released: if its lock could not be given back, only closing it does so.
            waits[number] = changed[number]?.wait()
            changed[number] = nil
            numbers[ObjectIdentifier(shard)] = nil
        }
        guard folder.isKeptOpen else { return nil }
        numbers[ObjectIdentifier(shard)] = changed.count
        changed.append(Changed(folder: folder, shard: shard, directory: directory))
        return changed.count - 1
    }

    /// Waits for each of them, if the store is durable.
    ///
    /// - Returns: the results of the changes; a failure for each in a directory that could not be synchronized.
    mutating func waiting<Outcome>(
        _ results: [Result<Change<Outcome>, StoreError>]
    ) -> [Result<Outcome, StoreError>] {
        for (number, changed) in changed.enumerated() {
            if let changed { waits[number] = changed.wait() }
        }
        return results.map { result in
            result.flatMap { change in
                let wait = change.folder.flatMap { waits[$0] } ?? .success(())
                return wait.map { change.outcome }
            }
        }
    }
}

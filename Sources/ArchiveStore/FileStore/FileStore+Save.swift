import Foundation

extension FileStore {
    /// Implementation: deflate; `openat`, `write`, `fstat`, `close` of a draft; then, while the shard is locked
    /// (`flock`), a look at the slot and `renameat`.
    @discardableResult
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let (key, content) = try content(NewArchive(key: key, archive: archive, attributes: attributes))
        return try save(content, of: key, if: condition)
    }

    /// The bytes of the file that an archive is to be in.
    ///
    /// - Throws: `.invalidArgument`, `.tooLarge`.
    func content(_ new: NewArchive) throws(StoreError) -> (key: StoreKey, content: FileContent) {
        let key = try StoreKey(new.key)
        try settings.checkArchive(byteCount: new.archive.count)
        let content = try EntryFile.content(
            archive: new.archive,
            key: key,
            attributes: new.attributes,
            compression: settings.compression
        )
        return (key, content)
    }

    /// Implementation: as a save, but for the archive, which stays compressed as it is.
    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(entry.key)
        let deadline = date?.timeIntervalSinceReferenceDate ?? .infinity
        guard !deadline.isNaN else {
            throw StoreError(.invalidArgument, action: "moving a deadline", reason: "a date is not a number")
        }
        let moved = try withChain(of: key) { chain, shard throws(StoreError) -> [UInt8]? in
            guard let (file, status) = try find(key, .archive, in: chain, of: shard),
                identity(file, status) == entry.identity
            else { return nil }
            return file.bytes(expiresAt: deadline)
        }
        guard let moved else { return nil }
        return try save(FileContent(moved), of: key) { $0?.identity == entry.identity }
    }

    /// Saves all bytes of an entry's file.
    func save(
        _ content: FileContent,
        of key: StoreKey,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try settings.checkEntry(byteCount: storedByteCount(of: content))
        return try withDirectory { directory throws(StoreError) in
            try makeFreeSpace(for: storedByteCount(of: content), in: directory)
            do throws(StoreError) {
                return try save(content, of: key, in: directory, if: condition)
            } catch {
                // Full after all: room for this one and a few more, once.
                guard error.isOutOfSpace, settings.isLimited,
                    try giveUp(atLeast: content.count * 2 + Self.spareByteCount, in: directory)
                else { throw error }
                return try save(content, of: key, in: directory, if: condition)
            }
        }
    }

    /// The length of the file that content is to be in.
    func storedByteCount(of content: FileContent) -> Int {
        content.count + (settings.keys == nil ? 0 : SealedEntry.overhead)
    }

    /// How many bytes are evicted when the volume turns out to be full, besides twice the new file's length.
    private static var spareByteCount: Int { 1 << 16 }
    /// How often a save makes room that other saves take away before it fails.
    private static var mostAttempts: Int { 10_000 }

    private func save(
        _ content: FileContent,
        of key: StoreKey,
        in directory: StoreDirectory,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let draft = try draft(of: content, key, in: directory)
        return try place(draft, finish(draft), if: condition, waits: true)
    }

    /// An entry's file that has not got its name yet.
    struct EntryDraft {
        let key: StoreKey
        let name: EntryName
        /// The end of the file, decrypted.
        let entry: EntryFile
        let directory: StoreDirectory
        let shard: Shard
        /// That of the shard.
        let folder: Directory
        let session: DraftSession
        let file: OpenDraft
    }

    /// Writes an entry's file.
    func draft(
        of content: FileContent,
        _ key: StoreKey,
        in directory: StoreDirectory
    ) throws(StoreError) -> EntryDraft {
        let name = directory.names.name(of: key)
        let shard = directory.shards[name.shard]
        // A shard that is not found by its path, now or ever, means that the store is elsewhere by now.
        guard let folder = try shard.directory(create: true), try shard.isNamed(folder) else {
            throw StoreError(SystemError(number: ENOENT), path: shard.path, action: "saving an archive")
        }
        let session = try directory.session()
        var (content, entry) = (content, Self.entry(content, seal: nil))
        if let sealing = directory.sealing {
            let (bytes, seal) = sealing.seal(content.joined, headByteCount: entry.headByteCount, name, save: nil)
            entry = Self.entry(content, seal: seal)
            content = FileContent(bytes)
        }
        return EntryDraft(
            key: key,
            name: name,
            entry: entry,
            directory: directory,
            shard: shard,
            folder: folder,
            session: session,
            file: try session.begin { file throws(SystemError) in try file.write(content) }
        )
    }

    /// Closes an entry's file, which is on the device before its name is, if the store is durable.
    func finish(_ draft: EntryDraft) throws(StoreError) -> FileStatus {
        try draft.session.finish(draft.file, synchronized: settings.isDurable).status
    }

    /// Gives an entry's file its name; nothing is left of it if that fails.
    ///
    /// - Parameter waits: whether to wait until the name is on the device, if the store is durable.
    func place(
        _ draft: EntryDraft,
        _ status: FileStatus,
        if condition: ((EntryInformation?) -> Bool)?,
        waits: Bool
    ) throws(StoreError) -> EntryInformation? {
        let (directory, name, entry) = (draft.directory, draft.name, draft.entry)
        let chain = chain(name, in: draft.folder, of: draft.shard, directory)
        do throws(StoreError) {
            var size = NameSize(byteCount: entry.storedByteCount, count: 1)
            for _ in 0..<Self.mostAttempts {
                // Before the shard is locked, for the locks of other shards may be needed.
                try makeRoom(for: size, of: name, in: directory, now: entry.footer.storedAt)
                let placing = try draft.shard.withLock(on: draft.folder, waits: waits) { () throws(StoreError) in
                    try rename(draft, in: chain, if: condition, size: &size)
                }
                switch placing {
                case .placed:
                    keepHeadroom(in: directory)
                    return information(entry, status, of: draft.key)
                case .refused:
                    draft.session.discard(draft.file.name)
                    return nil
                case .lacksRoom:
                    break
                }
            }
            let reason = "others have taken all room"
            throw StoreError(.io, path: chain.path(0), action: "saving an archive", reason: reason)
        } catch {
            draft.session.discard(draft.file.name)
            throw error
        }
    }

    private enum Placing {
        case placed
        /// The condition said no.
        case refused
        /// The journal has no room for the entry, or must list the entries first.
        case lacksRoom
    }

    /// Renames an entry's file to the slot of its key, while the shard is locked.
    ///
    /// - Parameter size: becomes the size that the name has with the entry, if a journal is kept.
    private func rename(
        _ draft: EntryDraft,
        in chain: SlotChain,
        if condition: ((EntryInformation?) -> Bool)?,
        size: inout NameSize
    ) throws(StoreError) -> Placing {
        let (name, journal, entry) = (chain.name, chain.journal, draft.entry)
        guard try draft.directory.hasItsNames() else {
            throw StoreError(SystemError(number: ENOENT), path: chain.path(0), action: "saving an archive")
        }
        let place = try chain.place(saving: draft.key)
        let former = place.former.map { information($0.entry, $0.status, of: draft.key) }
        if let condition, !condition(former) { return .refused }
        let isKept = try journal.isKept()
        let formerSize = isKept ? try chain.size() : .zero
        if isKept {
            size = try chain.size(formerSize, putting: entry.storedByteCount, at: place.slot)
            guard try journal.announce(name, size) == .recorded else { return .lacksRoom }
        }
        do throws(StoreError) {
            // Before it is there: a process that is killed in between leaves a name too many in a list.
            try list(entry, name, replacing: place.former?.entry, in: draft.directory)
            let fileName = name.fileName(slot: place.slot)
            try attempt(
                "renaming a draft into place",
                chain.path(place.slot),
                draft.session.directory.rename(draft.file.name, to: fileName, in: draft.folder)
            )
        } catch {
            if isKept { journal.tell(name, formerSize) }
            throw error
        }
        // A process that began a journal in the meantime may have read the old entry before it was replaced.
        if isKept { journal.tell(name, size) } else { chain.tell() }
        return .placed
    }

    private static func entry(_ content: FileContent, seal: EntryFile.Seal?) -> EntryFile {
        do {
            return try EntryFile(tail: content.tail, fileByteCount: content.count, checksum: nil, seal: seal)
        } catch {
            preconditionFailure("what was just made is an entry")
        }
    }
}

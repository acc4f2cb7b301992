/// Whether a directory without a marker is a store's: it holds the files and directories of a store, and no others.
///
/// The marker or other files may have been removed by hand, or a process was killed while it made the store.
struct StoreContents {
    /// Whether nothing but a store's own is there, or nothing at all.
    private(set) var isOwn = true
    /// Whether there may be entries.
    private(set) var hasEntries = false
    /// Whether there is the file of an encrypted file store's names.
    private(set) var hasNames = false
    /// Whether an entry of a file store is encrypted, the first one that is found; `nil` if there is none, or no telling.
    private(set) var isSealed: Bool?
    /// Whether there is a marker: another process has made it just now.
    private(set) var isMarked = false

    /// Directories that both kinds of store have.
    private static let directories: Set = [
        DraftSession.directoryName, Quarantine.directoryName, PublishedFile.directoryName,
        ProfileFile.directoryName,
    ]

    /// Looks at the names in a directory, and at the first bytes of files whose names others may use as well.
    init(of root: Directory, kind: StoreKind) throws(SystemError) {
        var names: [String] = []
        try root.forEachName { name in
            names.append(name)
            return true
        }
        for name in names where isOwn {
            guard let status = try root.status(name) else { continue }
            if name == StoreMarker.fileName {
                isMarked = true
                continue
            }
            if Self.directories.contains(name) {
                isOwn = status.isDirectory
                continue
            }
            switch kind {
            case .packed: try lookAt(name, status, inPackedStore: root)
            case .file: try lookAt(name, status, inFileStore: root)
            }
        }
    }

    private mutating func lookAt(
        _ name: String,
        _ status: FileStatus,
        inPackedStore root: Directory
    ) throws(SystemError) {
        if Segment.number(name) != nil {
            isOwn = status.isRegular
            hasEntries = true
        } else if name == IndexSnapshot.fileName {
            isOwn = try Self.begins(name, with: IndexSnapshot.magic, in: root)
        } else if name == ReserveFile.name {
            isOwn = try Self.begins(name, with: 0, in: root)
        } else {
            isOwn = false
        }
    }

    private mutating func lookAt(
        _ name: String,
        _ status: FileStatus,
        inFileStore root: Directory
    ) throws(SystemError) {
        if let shard = EntryName.shard(name) {
            isOwn = status.isDirectory
            guard isOwn else { return }
            let folder = try root.directory(name)
            try folder.forEachName { file in
                isOwn = EntryName.parse(file, shard: shard) != nil
                hasEntries = hasEntries || isOwn
                if isOwn, isSealed == nil { isSealed = Self.isSealed(file, in: folder) }
                return isOwn
            }
        } else if name == NamesFile.fileName {
            isOwn = NamesFile.begins(try root.regularFile(name, 4) ?? [])
            hasNames = isOwn
        } else if [EntryLists.wheelName, EntryLists.tagsName].contains(name) {
            isOwn = status.isDirectory
        } else if name == JournalFile.name {
            let start = try root.regularFile(name, JournalRecord.byteCount)
            isOwn = start.map { $0.allSatisfy { $0 == 0 } || JournalRecord($0[...]) != nil } ?? false
        } else {
            isOwn = false
        }
    }

    private static func isSealed(_ name: String, in folder: Directory) -> Bool? {
        do {
            let file = try folder.file(name)
            let status = try file.status()
            let start = max(0, status.byteCount - EntryFooter.endByteCount)
            guard status.isRegular else { return nil }
            let end = try file.read(EntryFooter.endByteCount, at: start)
            return try EntryFooter.version(endOf: end, checksum: nil) == EntryFooter.sealedVersion
        } catch {
            return nil
        }
    }

    /// Whether a file is a regular one that begins with these bytes, or with zeros, as after a power failure.
    private static func begins(_ name: String, with magic: UInt32, in root: Directory) throws(SystemError) -> Bool {
        guard let start = try root.regularFile(name, 4) else { return false }
        if start.allSatisfy({ $0 == 0 }) { return true }
        return start.count == 4 && ByteReader(start).number(at: 0) == magic
    }
}

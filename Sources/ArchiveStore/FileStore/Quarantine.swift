import Foundation

/// The directory in which a store keeps damaged files for people to examine: `.quarantine`.
///
/// A file gets its name here before it loses the one it had, so that no slot is ever missing in the meantime. Only
/// regular files with names as in ``QuarantineName`` count, and only they are ever removed.
struct Quarantine {
    static let directoryName = ".quarantine"
    /// The most files that are kept; the oldest goes.
    static let largestCount = 16
    /// The largest file that is kept, in bytes.
    static let largestByteCount = 16 << 20

    /// The store's directory.
    let root: Directory

    /// Gives the file at a slot in `folder` a name here too, unless it is too large, or no regular file.
    func keep(_ name: EntryName, slot: Int, of folder: Directory) throws(SystemError) {
        guard let status = try folder.status(name.fileName(slot: slot)), status.isRegular,
            status.byteCount <= Self.largestByteCount
        else { return }

        try root.makeDirectory(Self.directoryName)
        // Opened for this call only, so its lock shuts out all other callers, and ends with it.
        let directory = try root.directory(Self.directoryName)
        try directory.lock()
        var kept: [QuarantineName] = []
        for (name, identity) in try files(in: directory) {
            // It could not be removed when it was found before.
            if identity == status.identity { return }
            kept.append(name)
        }
        kept.sort()
        // Counting does not get as far as the last number; if a file has that number all the same, all files go.
        let isLast = kept.last?.number == .max
        for name in kept.prefix(isLast ? kept.count : max(0, kept.count - Self.largestCount + 1)) {
            try directory.remove(name.fileName)
        }
        let number = isLast ? 0 : (kept.last?.number).map { $0 + 1 } ?? 0
        let newName = QuarantineName(number: number, name, slot: slot).fileName
        try folder.link(name.fileName(slot: slot), to: newName, in: directory)
    }

    /// Removes all files that are kept.
    func removeAll() throws(SystemError) {
        let directory: Directory
        do {
            directory = try root.directory(Self.directoryName)
        } catch {
            if error.isMissing { return }
            throw error
        }
        try directory.lock()
        for (name, _) in try files(in: directory) { try directory.remove(name.fileName) }
    }

    private func files(
        in directory: Directory
    ) throws(SystemError) -> [(name: QuarantineName, identity: FileIdentity)] {
        var names: [QuarantineName] = []
        try directory.forEachName { fileName in
            if let name = QuarantineName(fileName) { names.append(name) }
            return true
        }
        var files: [(name: QuarantineName, identity: FileIdentity)] = []
        for name in names {
            guard let status = try directory.status(name.fileName), status.isRegular else { continue }
            files.append((name, status.identity))
        }
        return files
    }
}

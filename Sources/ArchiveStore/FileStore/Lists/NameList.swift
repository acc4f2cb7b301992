/// Files of names in one directory: 16 bytes for each, in no order, some more than once, some of entries that are gone.
///
/// A list only says where to look; the entry that is found there decides. So a process that is killed at any instant
/// may leave a name too many, never one too few: a name is appended before its entry has its file, and a list is
/// deleted after all of its names were looked at. The list has another name by then, so that no process appends to it
/// any longer.
///
///     <name>             a list
///     <name>.<16 hex>    one that a process is working on, or was when killed
///
/// Names are appended under a lock of the file (`flock`), within the lock of the shard of their entry.
struct NameList {
    private static let largestByteCount = 1 << 31
    private static let chunk = 1 << 20

    let directory: Directory

    /// Appends `entry` to the list `name`. Uses the open file `kept` if it is this list's, and keeps the used file
    /// there.
    ///
    /// - Returns: whether the list has doubled its length, from some length on.
    func append(_ entry: EntryName, to name: String, keeping kept: inout OpenList?) throws(SystemError) -> Bool {
        while true {
            let list: OpenList
            if let kept, kept.name == name {
                list = kept
            } else {
                list = try OpenList(name, in: directory)
                kept = list
            }
            try list.file.lock(waits: true)
            // Closing it gives the lock back, too.
            defer { if (try? list.file.unlock()) == nil { kept = nil } }
            // Another caller may have begun to work on it.
            guard try directory.status(name)?.identity == list.identity else {
                kept = nil
                continue
            }
            let length = try list.file.status().byteCount
            let start = length - length % EntryName.byteCount
            var bytes: [UInt8] = []
            entry.write(to: &bytes)
            try list.file.write(bytes, at: start)
            return PowerOfTwo.isCrossed(from: start, to: start + EntryName.byteCount, least: 1 << 16)
        }
    }

    /// Takes lists for work, also lists that other callers work on, and gives the names in each file.
    ///
    /// One step for all callers that work on lists (`flock` of their folder): a name that moves from one file to
    /// another is in one of the files that are seen here.
    func take(where isChosen: (String) -> Bool) throws(SystemError) -> [(file: String, names: [EntryName])] {
        try withFolderLock { () throws(SystemError) in
            for list in try lists() where isChosen(list) { try claim(list) }
            var taken: [(file: String, names: [EntryName])] = []
            for (list, file) in try claimed() where isChosen(list) { taken.append((file, try names(in: file))) }
            return taken
        }
    }

    /// Deletes a file after all of its names were looked at, and maybe appended elsewhere.
    func finish(_ file: String) throws(SystemError) {
        try withFolderLock { () throws(SystemError) in _ = try directory.remove(file) }
    }

    private func withFolderLock<Result>(_ body: () throws(SystemError) -> Result) throws(SystemError) -> Result {
        try directory.lock()
        defer { bestEffort("closing the directory gives the lock back, too") { try directory.unlock() } }
        return try body()
    }

    /// Takes the list `name` for work, if it is there.
    private func claim(_ name: String) throws(SystemError) {
        guard let file = try directory.list(name, create: false) else { return }
        // A caller that appends does it before, or sees that the file has another name.
        try file.lock(waits: true)
        guard try directory.status(name)?.identity == file.status().identity else { return }
        try directory.rename(name, to: "\(name).\(DraftName.randomSession(directory.layer))", in: directory)
    }

    /// The lists that are being worked on, by the names they had.
    private func claimed() throws(SystemError) -> [(list: String, file: String)] {
        try files().compactMap { file in
            let parts = file.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 2 ? (String(parts[0]), file) : nil
        }
    }

    /// The names of all lists that no caller works on.
    private func lists() throws(SystemError) -> [String] {
        try files().filter { !$0.contains(".") }
    }

    private func files() throws(SystemError) -> [String] {
        var files: [String] = []
        try directory.forEachName { name in
            files.append(name)
            return true
        }
        return files
    }

    /// The names in a file, each once, in the file's order.
    private func names(in file: String) throws(SystemError) -> [EntryName] {
        guard let list = try directory.list(file, create: false) else { return [] }
        let status = try list.status()
        guard status.isRegular else { return [] }
        let end = min(status.byteCount, Self.largestByteCount)
        var names: [EntryName] = []
        var known: Set<EntryName> = []
        var position = 0
        // Holes are skipped: no store writes one, and a hole may seem to be endless.
        while position < end, let data = try list.nextData(from: position), data < end {
            position = data - data % EntryName.byteCount
            let bytes = try list.read(min(Self.chunk, end - position), at: position)
            let whole = bytes.count - bytes.count % EntryName.byteCount
            if whole == 0 { break }
            for offset in stride(from: 0, to: whole, by: EntryName.byteCount) {
                let name = EntryName(bytes[offset..<(offset + EntryName.byteCount)])
                if known.insert(name).inserted { names.append(name) }
            }
            position += whole
        }
        return names
    }
}

/// A list that is open.
final class OpenList: Sendable {
    let name: String
    let file: OpenFile
    let identity: FileIdentity

    init(_ name: String, in directory: Directory) throws(SystemError) {
        guard let file = try directory.list(name, create: true) else { throw SystemError.last }
        identity = try file.status().identity
        self.file = file
        self.name = name
    }
}

/// The file of a journal, open.
final class JournalFile: Sendable {
    static let name = "journal"
    /// No store writes a longer file.
    static let largestByteCount = 1 << 32
    private static let chunk = 1 << 20

    let file: OpenFile
    let identity: FileIdentity

    private init(_ file: consuming OpenFile) throws(SystemError) {
        identity = try file.status().identity
        self.file = file
    }

    /// Opens the journal in `root`; `nil` if there is none, and none should be made.
    static func open(in root: Directory, create: Bool) throws(SystemError) -> JournalFile? {
        guard let file = try root.list(name, create: create) else { return nil }
        return try JournalFile(file)
    }

    /// Whether this is still the file of that name.
    func isCurrent(in root: Directory) throws(SystemError) -> Bool {
        try root.status(Self.name)?.identity == identity
    }

    /// The length of all whole records, in bytes. A partial record after them was cut off, and is written over.
    func byteCount() throws(SystemError) -> Int {
        let count = try file.status().byteCount
        return count - count % JournalRecord.byteCount
    }

    /// Gives the records from `start` to `end` to `body`.
    ///
    /// - Returns: `false` if one of them is not a record.
    func read(from start: Int, to end: Int, _ body: (JournalRecord) -> Void) throws(SystemError) -> Bool {
        guard start <= end, end <= Self.largestByteCount else { return false }
        var position = start
        while position < end {
            let bytes = try file.read(min(Self.chunk, end - position), at: position)
            guard !bytes.isEmpty, bytes.count % JournalRecord.byteCount == 0 else { return false }
            for offset in stride(from: 0, to: bytes.count, by: JournalRecord.byteCount) {
                guard let record = JournalRecord(bytes[offset..<(offset + JournalRecord.byteCount)]),
                    record.isBeginning == (position + offset == 0)
                else { return false }
                body(record)
            }
            position += bytes.count
        }
        return true
    }
}

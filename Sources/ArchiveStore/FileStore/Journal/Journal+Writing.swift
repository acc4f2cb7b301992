import Foundation

extension Journal {
    /// A journal is rewritten from this length on, if it has several records for each name.
    private static var leastCompactedByteCount: Int { 1 << 16 }
    private static var recordsPerName: Int { 4 }

    /// Appends the records that were put off, then `records`, which it applies to the ledger too.
    func append(
        _ records: [JournalRecord],
        to file: JournalFile,
        _ state: inout State
    ) throws(SystemError) {
        let start = state.ledger == nil ? try file.byteCount() : state.position
        let bytes = JournalRecord.bytes(state.pending + records)
        try file.file.write(bytes, at: start)
        state.pending = []
        for record in records { state.ledger?.apply(record) }
        state.position = start + bytes.count
        bestEffort("the records are appended, and a journal that stays long is read all the same") {
            try compact(&state, file, from: start)
        }
    }

    /// Writes the journal again if later records have replaced most of it.
    private func compact(_ state: inout State, _ file: JournalFile, from start: Int) throws(SystemError) {
        let end = state.position
        func isLong(_ ledger: Ledger) -> Bool {
            end / JournalRecord.byteCount > Self.recordsPerName * (ledger.nameCount + 1)
        }
        if let ledger = state.ledger {
            guard end >= Self.leastCompactedByteCount, isLong(ledger) else { return }
            try replace(by: ledger.records(writer: writer), &state)
        } else if PowerOfTwo.isCrossed(from: start, to: end, least: Self.leastCompactedByteCount) {
            // A store without a ledger looks each time the journal has doubled.
            var ledger = Ledger(limit: .unlimited)
            guard try file.read(from: 0, to: end, { ledger.apply($0) }), isLong(ledger) else { return }
            try replace(by: ledger.records(writer: writer), &state)
        }
    }

    /// Writes the journal again with nothing but its records of the entries that are there.
    func shorten() throws(StoreError) {
        guard try isKept() else { return }
        _ = try withFileLock(create: false) { (state, file) throws(SystemError) in
            if let ledger = state.ledger { return try replace(by: ledger.records(writer: writer), &state) }
            var ledger = Ledger(limit: .unlimited)
            guard try file.read(from: 0, to: file.byteCount(), { ledger.apply($0) }) else { return }
            try replace(by: ledger.records(writer: writer), &state)
        }
    }

    /// Puts a journal of these records in place of the present one, which is locked. A store that has the former one
    /// open sees that it has lost its name.
    func replace(by records: [JournalRecord], _ state: inout State) throws(SystemError) {
        let bytes = JournalRecord.bytes([.beginning(writer: writer)] + records)
        let draft: (name: String, status: FileStatus)
        let session: DraftSession
        do throws(StoreError) {
            guard let found = try draftSession() else { throw failure(SystemError(number: ENOENT)) }
            session = found
            draft = try session.write(bytes)
        } catch {
            throw SystemError(number: error.errorNumber ?? EIO)
        }
        do throws(SystemError) {
            try session.directory.rename(draft.name, to: JournalFile.name, in: root)
        } catch {
            session.discard(draft.name)
            throw error
        }
        state.file = nil
        // The ledger is as the new journal says, unless another store has replaced that journal already.
        guard !records.isEmpty, let file = try JournalFile.open(in: root, create: false),
            file.identity == draft.status.identity
        else { return }
        state.file = file
        state.position = bytes.count
    }

    // MARK: Listing

    /// The names in the ledger by shard, if the entries' files have to be compared with it; else `nil`.
    func namesToList() throws(StoreError) -> (names: [[EntryName]], generation: Int)? {
        try withFileLock { (state, _) throws(SystemError) in
            guard let ledger = state.ledger, !state.isListed else { return nil }
            return (ledger.namesByShard(), state.generation)
        }
    }

    /// Records the sizes of a shard's files, while the shard is locked.
    ///
    /// - Parameter names: the names of this shard that the journal may have.
    func correct(_ sizes: [EntryName: NameSize], names: [EntryName]) throws(StoreError) {
        try withFileLock { (state, file) throws(SystemError) in
            guard let ledger = state.ledger else { return }
            var records: [JournalRecord] = []
            for (name, size) in sizes {
                let record = JournalRecord(.holds, of: name, size, writer: writer)
                if ledger.size(of: name) != record.size { records.append(record) }
            }
            for name in names where sizes[name] == nil && ledger.size(of: name) != .zero {
                records.append(JournalRecord(.holds, of: name, writer: writer))
            }
            if !records.isEmpty { try append(records, to: file, &state) }
        }
    }

    func finishListing(_ generation: Int) throws(StoreError) {
        try withFileLock { (state, _) throws(SystemError) in
            if state.generation == generation { state.isListed = true }
        }
    }
}

/// When something that grows has doubled, told by its length alone.
enum PowerOfTwo {
    /// Whether a power of two, `least` or greater, lies above `start` and not above `end`.
    static func isCrossed(from start: Int, to end: Int, least: Int) -> Bool {
        end >= least && (start < least || start.leadingZeroBitCount != end.leadingZeroBitCount)
    }
}

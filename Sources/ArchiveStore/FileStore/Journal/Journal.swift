import Foundation
import Synchronization

/// The journal, in which every process records its changes of a store's directory, so that totals are right among all
/// processes.
///
///     <directory>/journal     records of 32 bytes, see `JournalRecord`
///
/// A save is announced before its rename and told after it, and so is a removal: a process that is killed in between
/// leaves the journal's totals above the truth, never below, and processes that keep values in memory know that this
/// entry may have changed. All of that happens while the shard of the name is locked, so the records of one name are in
/// the order of the changes, and each says all there is to say of its name.
///
/// A store with limits keeps a ledger of the records. It appends while the file is locked (`flock`), after it has read
/// the records that other stores have appended; so if there is room for only one of two saves, the other one is told
/// that there is none for it. Damaged or missing records are made up for by a listing of the entries' files, which are
/// the truth.
///
/// The second place where a store does I/O under a lock: reading the ledger and appending to the file must be one step.
/// Order of locks: a shard's, then this one's.
final class Journal: Sendable {
    enum Outcome {
        case recorded
        /// There is no room.
        case full
        /// The entries' files have to be listed before this can be decided.
        case needsListing
    }

    struct State {
        var file: JournalFile?
        /// How many bytes of the file were applied to the ledger.
        var position = 0
        var ledger: Ledger?
        /// Whether the entries' files were compared with the ledger since it was begun.
        var isListed = false
        /// Grows with each ledger that is begun.
        var generation = 0
        /// Records to append with the next one: the ledger knows of them, other processes do not.
        var pending: [JournalRecord] = []
    }

    let root: Directory
    let path: String
    let writer: UInt32
    /// The limits that the ledger is kept for; `nil`: there is no ledger.
    let limit: NameSize?
    /// Whether the store makes a journal if there is none.
    let isWanted: Bool
    private let uses = UseBuffer()
    let listing = Mutex<Void>(())
    private let state = Mutex(State())
    private let drafts = Mutex<(@Sendable () throws(StoreError) -> DraftSession?)?>(nil)

    private static let mostPending = 4_096

    init(of root: Directory, path: String, settings: StoreSettings) {
        self.root = root
        self.path = path + "/" + JournalFile.name
        writer = .random(in: .min ... .max)
        let isLimited = settings.isLimited
        limit =
            isLimited ? NameSize(byteCount: settings.byteLimit ?? .max, count: settings.countLimit ?? .max) : nil
        isWanted = isLimited || settings.followsOthers
    }

    /// Whether there is a journal that changes must be recorded in.
    func isKept() throws(StoreError) -> Bool {
        if isWanted { return true }
        return try attempt(Self.action, path, root.status(JournalFile.name))?.isRegular == true
    }

    /// - Parameter drafts: Gives the session in which a journal is written before it takes the place of another one.
    func setDrafts(_ drafts: @escaping @Sendable () throws(StoreError) -> DraftSession?) {
        self.drafts.withLock { $0 = drafts }
    }

    func draftSession() throws(StoreError) -> DraftSession? {
        try drafts.withLock { $0 }?()
    }

    func failure(_ error: SystemError) -> StoreError { StoreError(error, path: path, action: Self.action) }

    /// The action that fails, for messages.
    static let action = "keeping the journal"

    // MARK: Records

    /// Marks an entry that was fetched.
    func markUse(of name: EntryName) {
        if limit != nil { uses.mark(name) }
    }

    /// Announces that `name` is about to take `size`, if there is room.
    func announce(_ name: EntryName, _ size: NameSize) throws(StoreError) -> Outcome {
        try withFileLock { (state, file) throws(SystemError) in
            if state.ledger != nil {
                guard state.isListed else { return .needsListing }
                guard state.ledger?.hasRoom(size, for: name) == true else { return .full }
            }
            try append([JournalRecord(.announced, of: name, size, writer: writer)], to: file, &state)
            return .recorded
        }
    }

    /// Tells that `name` is about to lose entries.
    func warn(of name: EntryName) {
        let record = JournalRecord(.changed, of: name, writer: writer)
        bestEffort("the change is told afterwards") {
            try withFileLock { (state, file) throws(SystemError) in try append([record], to: file, &state) }
        }
    }

    /// Tells the size of `name`, after it was changed.
    ///
    /// A failure is ignored: if the size cannot be told, the journal stays above the truth.
    func tell(_ name: EntryName, _ size: NameSize) {
        let record = JournalRecord(.holds, of: name, size, writer: writer)
        let result = Result { () throws(StoreError) in
            try withFileLock { (state, file) throws(SystemError) in try append([record], to: file, &state) }
        }
        guard case .failure = result else { return }
        state.withLock { state in
            // Not the record itself: it may not be true any longer when it is written.
            state.ledger?.apply(record)
            postpone(JournalRecord(.changed, of: name, writer: writer), &state)
        }
    }

    /// A ledger of all records, for a store that keeps none; `nil` if there is no journal, or one that cannot be read.
    func read() throws(StoreError) -> Ledger? {
        guard try isKept() else { return nil }
        return try withFileLock(create: false) { (_, file) throws(SystemError) in
            var ledger = Ledger(limit: .unlimited)
            return try file.read(from: 0, to: file.byteCount()) { ledger.apply($0) } ? ledger : nil
        } ?? nil
    }

    /// Records the fetches that are not in the journal yet, at the end of a store.
    func flushUses() {
        guard limit != nil else { return }
        let marked = uses.take()
        guard !marked.isEmpty else { return }
        bestEffort("uses are hints, and may be lost") {
            try withFileLock(create: false) { (state, file) throws(SystemError) in
                let records = marked.compactMap { record(use: $0, times: $1, &state) }
                if !records.isEmpty { try append(records, to: file, &state) }
            }
        }
    }

    /// Appends the records that found no room until now, at the end of a store.
    func flushPending() {
        guard state.withLock({ !$0.pending.isEmpty }) else { return }
        bestEffort("there is still no room for them") {
            try withFileLock(create: false) { (state, file) throws(SystemError) in
                if !state.pending.isEmpty { try append([], to: file, &state) }
            }
        }
    }

    /// Has `body` look at the ledger as it is, without reading newer records from the file; `nil` if there is no
    /// ledger.
    func withLedger<Result>(_ body: (inout Ledger) -> Result) -> Result? {
        state.withLock { state in
            guard state.ledger != nil else { return nil }
            for (name, times) in uses.take() {
                if let record = record(use: name, times: times, &state) { postpone(record, &state) }
            }
            guard var ledger = state.ledger.take() else { return nil }
            defer { state.ledger = ledger }
            return body(&ledger)
        }
    }

    /// Whether a victim of the ledger is one still, after the records of other stores were read. Asked while its shard
    /// is locked.
    func isStillVictim(_ name: EntryName) throws(StoreError) -> Bool {
        guard limit != nil else { return true }
        return try withFileLock { (state, _) throws(SystemError) in state.ledger?.isDeparting(name) ?? true }
    }

    private func postpone(_ record: JournalRecord, _ state: inout State) {
        if state.pending.count < Self.mostPending { state.pending.append(record) }
    }

    private func record(use name: EntryName, times: UInt8, _ state: inout State) -> JournalRecord? {
        // Without a ledger, all uses count: there are but a few for each name.
        let counted = state.ledger != nil ? state.ledger?.use(name, times: times) ?? 0 : times
        return counted > 0 ? JournalRecord(.used, of: name, uses: counted, writer: writer) : nil
    }

    // MARK: The file

    /// Runs `body` with the file locked (`flock`), and the ledger up to its end.
    func withFileLock<Result>(
        _ body: (inout State, JournalFile) throws(SystemError) -> Result
    ) throws(StoreError) -> Result {
        guard let result = try withFileLock(create: true, body) else {
            throw failure(SystemError(number: ENOENT))
        }
        return result
    }

    /// As ``withFileLock(_:)``; `nil` if there is no journal, and none should be made.
    func withFileLock<Result>(
        create: Bool,
        _ body: (inout State, JournalFile) throws(SystemError) -> Result
    ) throws(StoreError) -> Result? {
        try state.withLock { state throws(StoreError) in
            try attempt(Self.action, path) { () throws(SystemError) in
                while let file = try lockedFile(create: create, &state) {
                    defer { unlock(file, &state) }
                    if try follow(&state, file) { return try body(&state, file) }
                    try replace(by: [], &state)
                }
                return nil
            }
        }
    }

    private func lockedFile(create: Bool, _ state: inout State) throws(SystemError) -> JournalFile? {
        while true {
            let known = state.file
            guard let file = known == nil ? try JournalFile.open(in: root, create: create) : known else {
                return nil
            }
            do throws(SystemError) {
                try file.file.lock(waits: false)
            } catch {
                guard error.isLockedByOthers else { throw error }
                // If it was replaced just now, its lock guards nothing any longer.
                if try !file.isCurrent(in: root) {
                    state.file = nil
                    continue
                }
                try file.file.lock(waits: true)
            }
            do throws(SystemError) {
                if try file.isCurrent(in: root) {
                    if known == nil { begin(&state) }
                    state.file = file
                    return file
                }
            } catch {
                unlock(file, &state)
                throw error
            }
            unlock(file, &state)
            state.file = nil
        }
    }

    /// Gives the lock back; by closing the file if unlocking fails.
    private func unlock(_ file: JournalFile, _ state: inout State) {
        if (try? file.file.unlock()) == nil { state.file = nil }
    }

    /// Applies the records that were appended since to the ledger.
    ///
    /// - Returns: `false` if some of the bytes are not a record. Then nothing in the journal counts.
    private func follow(_ state: inout State, _ file: JournalFile) throws(SystemError) -> Bool {
        let end = try file.byteCount()
        if end == 0 {
            begin(&state)
            try file.file.write(JournalRecord.bytes([.beginning(writer: writer)]), at: 0)
        }
        guard state.ledger != nil else { return true }
        let newEnd = max(end, JournalRecord.byteCount)
        if state.position == newEnd { return true }
        guard try file.read(from: state.position, to: newEnd, { record in state.ledger?.apply(record) }) else {
            return false
        }
        state.position = newEnd
        return true
    }

    private func begin(_ state: inout State) {
        state.ledger = limit.map { Ledger(limit: $0, isFollowing: true) }
        state.isListed = false
        state.generation += 1
        state.position = 0
    }
}

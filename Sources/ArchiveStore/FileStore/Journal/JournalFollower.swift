import Foundation
import Synchronization

/// Reads the changes of other stores from a journal.
///
/// Apart from the ledger, so that a caller that asks before each hit in memory never waits for a save: where nothing is
/// new, it is one system call.
///
/// A name that is being changed is reported each time until the change is done: other processes may see the new entry
/// before the change is recorded, and the process that makes the change may be killed before.
final class JournalFollower: Sendable {
    private struct State {
        var file: JournalFile?
        var position = 0
        /// The names that other stores have begun to change, without a record yet that the change is done.
        var unsettled: Set<EntryName> = []
    }

    private let journal: Journal
    private let state = Mutex(State())

    init(of journal: Journal) {
        self.journal = journal
    }

    /// The keys that other stores have changed since the last call, or are changing; `nil` if it only begins to follow.
    /// Then anything may have changed, and changes under way may not be reported any longer: only a look at the locks of
    /// all shards tells when they are done.
    func changes() throws(StoreError) -> ChangesByOthers? {
        let isFollowing = try state.withLock { state throws(StoreError) -> ChangesByOthers? in
            try attempt(Journal.action, journal.path, changes(&state))
        }
        if let isFollowing { return isFollowing }
        // From here on there is a journal, in which every process records.
        let (file, end) = try journal.withFileLock { (_, file) throws(SystemError) in (file, try file.byteCount()) }
        state.withLock { $0 = State(file: file, position: end) }
        return nil
    }

    /// Forgets where it was in the journal: the next ``changes()`` begins to follow it.
    func beginAgain() { state.withLock { $0 = State() } }

    /// `nil` if there is no journal to go on in.
    private func changes(_ state: inout State) throws(SystemError) -> ChangesByOthers? {
        guard let file = state.file, let status = try journal.root.status(JournalFile.name),
            status.identity == file.identity
        else { return nil }
        let end = status.byteCount - status.byteCount % JournalRecord.byteCount
        if end == state.position { return .keys(state.unsettled.map(\.digest)) }
        var digests: [KeyDigest] = []
        var unsettled = state.unsettled
        let isSound = try file.read(from: state.position, to: end) { record in
            let isOwn = record.writer == journal.writer
            switch record.kind {
            case .begun, .used: break
            case .announced, .changed: if !isOwn { unsettled.insert(record.name) }
            case .holds:
                unsettled.remove(record.name)
                if !isOwn { digests.append(record.name.digest) }
            }
        }
        guard isSound else { return nil }
        state.position = end
        state.unsettled = unsettled
        return .keys(digests + unsettled.map(\.digest))
    }
}

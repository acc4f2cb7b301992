import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Reads in a journal what other stores have changed.
///
/// Apart from the ledger, so that who asks before each hit in memory never waits for one who saves: where nothing is
/// new, it is one system call.
///
/// What is being changed is told each time until it is done: others may see the new entry before its change is told, and
/// whoever changes it may be killed before.
final class JournalFollower: Sendable {
    private struct State {
        var file: JournalFile?
        var position = 0
        /// What others have begun to change, and not told to be done.
        var unsettled: Set<EntryName> = []
    }

    private let journal: Journal
    private let state = Mutex(State())

    init(of journal: Journal) {
        self.journal = journal
    }

    /// What others have changed since the last call, or are changing; `nil` if it only begins to follow. Then anything
    /// may have changed, and what is under way may be told no more: only a look at all locks tells when it is done.
    func changes() throws(StoreError) -> ChangesByOthers? {
        let isFollowing = try state.withLock { state throws(StoreError) -> ChangesByOthers? in
            do throws(SystemError) {
                return try changes(&state)
            } catch {
                throw journal.failure(error)
            }
        }
        if let isFollowing { return isFollowing }
        // From here on there is a journal, in which everybody records.
        let (file, end) = try journal.changing { (_, file) throws(SystemError) in (file, try file.byteCount()) }
        state.withLock { $0 = State(file: file, position: end) }
        return nil
    }

    /// `nil` if there is no journal to go on in.
    private func changes(_ state: inout State) throws(SystemError) -> ChangesByOthers? {
        guard let file = state.file, let status = try journal.root.status(JournalFile.name),
            status.identity == file.identity
        else { return nil }
        let end = status.byteCount - status.byteCount % JournalRecord.byteCount
        if end == state.position { return .keys(state.unsettled.map { KeyDigest($0) }) }
        var digests: [KeyDigest] = []
        var unsettled = state.unsettled
        let isSound = try file.read(from: state.position, to: end) { record in
            let isOwn = record.writer == journal.writer
            switch record.kind {
            case .begun, .used: break
            case .announced, .changed: if !isOwn { unsettled.insert(record.name) }
            case .holds:
                unsettled.remove(record.name)
                if !isOwn { digests.append(KeyDigest(record.name)) }
            }
        }
        guard isSound else { return nil }
        state.position = end
        state.unsettled = unsettled
        return .keys(digests + unsettled.map { KeyDigest($0) })
    }
}

extension KeyDigest {
    init(_ name: EntryName) { self.init(high: name.high, low: name.low) }
}

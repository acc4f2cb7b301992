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
final class JournalFollower: Sendable {
    private struct State {
        var file: JournalFile?
        var position = 0
    }

    private let journal: Journal
    private let state = Mutex(State())

    init(of journal: Journal) {
        self.journal = journal
    }

    /// What others have changed since the last call; the first one begins to follow.
    func changes() throws(StoreError) -> ChangesByOthers {
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
        return .everything
    }

    /// `nil` if there is no journal to go on in.
    private func changes(_ state: inout State) throws(SystemError) -> ChangesByOthers? {
        guard let file = state.file, let status = try journal.root.status(JournalFile.name),
            status.identity == file.identity
        else { return nil }
        let end = status.byteCount - status.byteCount % JournalRecord.byteCount
        if end == state.position { return .keys([]) }
        var digests: [KeyDigest] = []
        let isSound = try file.read(from: state.position, to: end) { record in
            guard record.writer != journal.writer, record.kind == .holds || record.kind == .changed else { return }
            digests.append(KeyDigest(high: record.name.high, low: record.name.low))
        }
        guard isSound else { return nil }
        state.position = end
        return .keys(digests)
    }
}

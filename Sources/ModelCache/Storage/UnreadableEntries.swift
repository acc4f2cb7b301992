import Synchronization

/// Tells of stored entries that cannot be read, and count as missing: of each once, for it may be read again and again.
final class UnreadableEntries: Sendable {
    /// Entries that are told apart; beyond it, all may be told of once more.
    private static let countLimit = 1_024

    private let told = Mutex<Set<String>>([])
    private let report: @Sendable (ModelCacheError) -> Void

    init(_ report: @escaping @Sendable (ModelCacheError) -> Void) { self.report = report }

    func tell(_ subject: ModelCacheError.Subject, because cause: any Error) {
        guard let key = subject.key ?? subject.listKey else { return }
        let isNew = told.withLock { told in
            if told.count >= Self.countLimit { told = [] }
            return told.insert(key).inserted
        }
        guard isNew else { return }
        report(
            ModelCacheError(
                .decodingFailed,
                "the stored \(subject) cannot be read, and counts as missing",
                of: subject,
                cause: cause
            )
        )
    }
}

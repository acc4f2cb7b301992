import Foundation

extension EntryState {
    /// Renews an entry that the server has called unchanged.
    ///
    /// One that was changed later keeps its later revision, which is after invalidations that the answer knows nothing of:
    /// it is not renewed then.
    ///
    /// - Parameter scopes: the entry's scopes.
    mutating func renew(
        by answer: Answer,
        _ bookkeeping: Bookkeeping,
        fresh: Duration,
        in scopes: [InvalidationScope]
    ) {
        let own = bookkeeping.comparable(self)
        if own > answer.revision, bookkeeping.latestInvalidation(of: scopes) > answer.revision { return }
        let revision = max(own, answer.revision)
        renew(
            answer.lifetime,
            generation: bookkeeping.generation(of: revision),
            revision: revision,
            receivedAt: answer.receivedAt,
            fresh: fresh
        )
    }

    /// Whether "not modified" is said of the answer that brought the entry.
    ///
    /// - Parameter sent: the validators of the conditional request.
    func isConfirmed(by answer: Answer, _ sent: Validators?) -> Bool {
        guard let validators else { return false }
        return validators.areSame(as: sent) && validators.areConfirmed(by: answer.response.headers)
    }

    /// Whether a moment is within a window after the entry became stale by time; `nil`: a window without end.
    func isWithin(_ window: Duration?, at now: Date) -> Bool {
        guard let window else { return true }
        guard window > .zero, let freshUntil else { return false }
        return now < freshUntil.addingTimeInterval(window / .seconds(1))
    }
}

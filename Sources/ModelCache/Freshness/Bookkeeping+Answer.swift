// Entries beside answers.

extension Bookkeeping {
    /// The state of an entry that an answer or the program brings.
    ///
    /// - Parameter fresh: how long it is fresh where no server says.
    func state(of arrival: ArrivalState, fresh: Duration) -> EntryState {
        EntryState(
            arrival.lifetime ?? ResponseLifetime(at: arrival.receivedAt),
            generation: generation(of: arrival.revision),
            revision: arrival.revision,
            receivedAt: arrival.receivedAt,
            fresh: fresh
        )
    }

    /// Whether an entry is of a later request than an answer, or was changed later.
    func isLater(_ entry: EntryState, than answer: Answer) -> Bool { comparable(entry) > answer.revision }

    /// Whether the program has changed an entry since an answer was asked for. The answer gave way to that change, and the
    /// server's other news went with it, so the server is asked again.
    func hasChanged(_ entry: EntryState?, since answer: Answer) -> Bool {
        guard let entry else { return false }
        // A change leaves the age as it is; a later answer would be younger.
        return isLater(entry, than: answer) && entry.fetchedAt < answer.requestedAt
    }

    /// Whether an entry is a later answer to a request with other headers, which an answer to this one gave way to.
    func isOtherVariant(_ entry: EntryState?, of request: ModelRequest, after answer: Answer) -> Bool {
        guard let entry else { return false }
        return isLater(entry, than: answer) && entry.isOtherVariant(than: request)
    }
}

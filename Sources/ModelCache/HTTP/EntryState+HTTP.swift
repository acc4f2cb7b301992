import Foundation

extension EntryState {
    /// The state of an entry that an answer brings.
    ///
    /// - Parameter fresh: how long it is fresh where the answer does not say.
    init(
        _ lifetime: ResponseLifetime,
        generation: UInt64,
        revision: Revision,
        receivedAt: Date,
        fresh: Duration
    ) {
        self.init(generation: generation, revision: revision, fetchedAt: receivedAt)
        freshUntil = receivedAt.addingTimeInterval(max(.zero, lifetime.fresh ?? fresh) / .seconds(1))
        staleWhileRevalidate = lifetime.staleWhileRevalidate
        staleIfError = lifetime.staleIfError
        validators = lifetime.validators
        varying = lifetime.varying
    }

    /// Renews an entry that the server has called unchanged (304): headers of that answer take the place of former ones
    /// (RFC 9111, section 4.3.4).
    mutating func renew(_ lifetime: ResponseLifetime, revision: Revision, receivedAt: Date, fresh: Duration) {
        let former = freshUntil.map { max(0, $0.timeIntervalSince(fetchedAt)) }
        self.revision = revision
        fetchedAt = receivedAt
        freshUntil = receivedAt.addingTimeInterval(
            lifetime.fresh.map { max(.zero, $0) / .seconds(1) } ?? former ?? (fresh / .seconds(1))
        )
        isRefused = false
        if lifetime.staleWhileRevalidate != .zero { staleWhileRevalidate = lifetime.staleWhileRevalidate }
        if let window = lifetime.staleIfError { staleIfError = window }
        if let new = lifetime.validators { validators = new }
    }

    /// A request that the server may answer with "not modified"; `nil` where the entry has no validator of it.
    func conditional(_ request: ModelRequest) -> ModelRequest? {
        guard let validators, validators.representation == request.representation, matches(request) else {
            return nil
        }
        var request = request
        if let tag = validators.entityTag { request.headers["if-none-match"] = tag }
        if let date = validators.lastModified { request.headers["if-modified-since"] = date }
        return request
    }

    /// Whether the answer that brought the entry is one to this request, by its `Vary`.
    func matches(_ request: ModelRequest) -> Bool {
        varying.allSatisfy { name, value in name != "*" && request.headers[name] ?? "" == value }
    }
}

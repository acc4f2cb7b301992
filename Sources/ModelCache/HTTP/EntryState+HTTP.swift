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
        freshUntil = lifetime.end(of: lifetime.stated, receivedAt: receivedAt, fresh: fresh)
        staleWhileRevalidate = lifetime.staleWhileRevalidate
        staleIfError = lifetime.staleIfError
        validators = lifetime.validators
        varying = lifetime.varying
    }

    /// Renews an entry that the server has called unchanged (304): headers of that answer replace former ones, which stay
    /// where it does not repeat them (RFC 9111, sections 3.2 and 4.3.4).
    ///
    /// - Parameter fresh: how long it is fresh where neither answer says.
    mutating func renew(
        _ lifetime: ResponseLifetime,
        generation: UInt64,
        revision: Revision,
        receivedAt: Date,
        fresh: Duration
    ) {
        self.revision = revision
        self.generation = generation
        fetchedAt = receivedAt
        let stated = lifetime.stated(over: validators?.lifetime)
        freshUntil = lifetime.end(of: stated, receivedAt: receivedAt, fresh: fresh)
        isRefused = false
        // Where the new answer has no `Cache-Control`, the former one's windows stay, `no-cache` included.
        if lifetime.hasCacheControl || lifetime.stated == .mustAsk {
            staleWhileRevalidate = lifetime.staleWhileRevalidate
            staleIfError = lifetime.staleIfError
        }
        validators?.lifetime = stated
        if let tag = lifetime.validators?.entityTag { validators?.entityTag = tag }
        if let date = lifetime.validators?.lastModified { validators?.lastModified = date }
        if !lifetime.varying.isEmpty { varying = lifetime.varying }
    }

    /// A request that the server may answer with "not modified"; `nil` where the entry has no validator of it.
    func conditional(_ request: ModelRequest) -> ModelRequest? {
        guard let validators, request.method == "GET", validators.representation == request.representation,
            matches(request), !request.hasCondition
        else { return nil }
        var request = request
        if let tag = validators.entityTag { request.headers["if-none-match"] = tag }
        if let date = validators.lastModified { request.headers["if-modified-since"] = date }
        return request
    }

    /// Whether the answer that brought the entry is one to this request, by its `Vary`.
    func matches(_ request: ModelRequest) -> Bool { Variants.match(varying, request) }

    /// Whether that answer is one to other headers than this request has. One that depends on more than headers (`*`) may be
    /// one to this request.
    func isOtherVariant(than request: ModelRequest) -> Bool { varying[Variants.any] == nil && !matches(request) }
}

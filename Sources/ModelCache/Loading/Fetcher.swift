import TypedCache

/// Fetches a model or a list by one rule: the stored one if it is fresh, else the server's, else the stored one if it may be
/// shown all the same.
struct Fetcher: Sendable {
    let server: Server
    let loads: InFlightLoads
    let report: @Sendable (ModelCacheError) -> Void

    /// - Parameter stored: the target as it is stored.
    nonisolated(nonsending) func fetch<Target: FetchTarget>(
        _ target: Target,
        stored: Target.Outcome?,
        _ mode: FetchMode
    ) async throws -> Target.Outcome {
        if let stored, server.mode.withLock({ $0 }) == .offline { return stored }
        try server.checkOnline(for: target.subject, "\(target.subject)")
        if let stored, mode != .reload {
            if stored.freshness.isFresh { return stored }
            if try await servesWhileLoading(target, stored.freshness, mode: mode) {
                refresh(target)
                return stored
            }
        }
        do {
            try server.checkDue(target.request, mode)
            guard let limit = mode.limit, stored != nil else { return try await load(target) }
            return try await waiting(atMost: limit) { [self] in
                try await load(target)
            } orElse: { () async throws(ModelCacheError) in
                try await servedOnError(target)
            }
        } catch {
            let cause = LoadFailure.cause(of: error)
            guard mode != .reload, Self.allowsStale(cause), let stored = try await servedOnError(target) else {
                throw cause
            }
            reportUnthrown(error)
            return stored
        }
    }

    /// Whether a stale value may be shown in the place of an error: the server could not be asked, or has failed. A refusal is
    /// thrown (RFC 9111, section 4.3.3).
    static func allowsStale(_ error: any Error) -> Bool {
        if error is CancellationError { return false }
        guard let error = error as? ModelCacheError else { return true }
        switch error.code {
        case .notFound: return false
        // A busy server's statuses allow the stale value; other 4xx are refusals.
        case .status: return error.status.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? true
        default: return true
        }
    }

    /// Whether a stale value is shown while it is loaded again.
    nonisolated(nonsending) func servesWhileLoading(
        _ target: some FetchTarget,
        _ freshness: Freshness,
        mode: FetchMode
    ) async throws(ModelCacheError) -> Bool {
        if mode == .staleWhileRevalidate { return true }
        // The server's window is for expired values, not for invalidated ones or other variants.
        guard freshness.staleReason == .expired, let state = try await target.storedState() else { return false }
        return state.isWithin(state.staleWhileRevalidate, at: server.now)
    }

    /// The stale value, if it may be shown where loading has failed.
    private nonisolated(nonsending) func servedOnError<Target: FetchTarget>(
        _ target: Target
    ) async throws(ModelCacheError) -> Target.Outcome? {
        if let state = try await target.storedState(), !state.isWithin(state.staleIfError, at: server.now) {
            return nil
        }
        guard let shown = try await target.stored(), shown.freshness.staleReason != .otherVariant else {
            return nil
        }
        return shown
    }

    // MARK: Loading

    /// Loads a model or a list; several tasks that want the same one wait for one load.
    ///
    /// - Throws: a ``LoadFailure``.
    nonisolated(nonsending) func load<Target: FetchTarget>(_ target: Target) async throws -> Target.Outcome {
        try await loads.join(target.name) { try await Self.loadOnce(target) }
    }

    private static func loadOnce<Target: FetchTarget>(_ target: Target) async throws -> Target.Outcome {
        if let outcome = try await target.outcome() { return outcome }
        let subject = target.subject
        throw ModelCacheError(.notFound, "\(subject) was changed again and again while it was loaded", of: subject)
    }

    /// Loads in the background, unless that is under way. A failure is reported.
    func refresh(_ target: some FetchTarget) {
        guard server.isDue(target.request) else { return }
        loadInBackground(target.name) { try await Self.loadOnce(target) }
    }

    /// Begins a load that no task waits for, unless one of this name is under way. Its failure is reported.
    func loadInBackground<Output: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Output
    ) {
        loads.start(name, body) { [self] in reportUnthrown($0) }
    }

    /// Reports the failure of a load that no caller gets: one in the background, or one that a stale value stands in for. It
    /// is reported once, however many tasks waited for the load.
    func reportUnthrown(_ error: any Error) {
        if let failure = error as? LoadFailure {
            if failure.takeReport() { reportUnthrown(failure.cause) }
            return
        }
        if error is CancellationError { return }
        guard let error = error as? ModelCacheError else {
            return report(ModelCacheError(.transport, "a load failed", cause: error))
        }
        // To have no transport is a setting, not a failure.
        if error.code != .noTransport { report(error) }
    }
}

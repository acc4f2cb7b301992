/// A load of a model, of several, or of pages of a list, by one rule: a request under the condition of the stored entry; its
/// status; the decoded answer, merged; and all of it again where that gave way to a change in the meantime.
protocol Attempt: Sendable {
    /// The decoded answer.
    associatedtype Content: Sendable
    associatedtype Outcome: Sendable

    var server: Server { get }
    var subject: ModelCacheError.Subject { get }
    /// The request for all of it.
    var request: ModelRequest { get }
    /// The entry that the server may confirm; `nil` where no whole entry is stored.
    var former: EntryState? { get }
    /// Whether no other attempt follows.
    var isLast: Bool { get set }

    /// Looks at the stored entry.
    ///
    /// - Returns: `false` if there is nothing to ask for.
    nonisolated(nonsending) mutating func begin() async throws -> Bool

    /// Renews the entry that the server has called unchanged.
    ///
    /// - Returns: `nil` if the entry was removed or replaced in the meantime.
    nonisolated(nonsending) func renewed(by answer: Answer) async throws -> Outcome?

    /// Whether the stored entry was replaced since the request. Any status of the answer is about the former entry then.
    nonisolated(nonsending) func isOutdated(_ answer: Answer) async throws -> Bool

    /// Makes a refusal part of the stored entries, and throws it; returns if it is outdated.
    nonisolated(nonsending) func refuse(_ answer: Answer) async throws

    /// - Throws: `.decodingFailed`.
    nonisolated(nonsending) func content(of answer: Answer) async throws -> Content

    /// The outcome of an answer that must not be kept.
    func unkept(_ content: Content, of answer: Answer) -> Outcome

    /// Merges the content into the stored entries.
    ///
    /// - Returns: `nil` if it gave way to a change in the meantime, so that the server is to be asked again.
    nonisolated(nonsending) func merged(_ content: Content, of answer: Answer) async throws -> Outcome?
}

extension Attempt {
    /// How often the server is asked whose answers give way to later changes.
    private var limit: Int { 3 }

    /// Loads once, and again while the answers give way.
    ///
    /// - Parameter run: has an attempt run.
    /// - Returns: `nil` if nothing is to be requested, or every answer gave way.
    nonisolated(nonsending) func outcome(
        by run: nonisolated(nonsending) (Self) async throws -> Outcome? = { try await $0.run() }
    ) async throws -> Outcome? {
        for number in 1...limit {
            var attempt = self
            attempt.isLast = number == limit
            guard try await attempt.begin() else { return nil }
            if let outcome = try await run(attempt) { return outcome }
        }
        return nil
    }

    /// - Returns: `nil` if the answer gave way.
    nonisolated(nonsending) func run() async throws -> Outcome? {
        let conditional = former?.conditional(request)
        var answer = try await server.send(conditional ?? request, for: subject)
        if answer.response.status == 304 {
            if conditional != nil, let renewed = try await renewed(by: answer) { return renewed }
            // There is nothing that the server could confirm.
            answer = try await server.send(request.unconditional, for: subject)
        }
        if try await isOutdated(answer) { return nil }
        guard (200..<300).contains(answer.response.status) else {
            try await refuse(answer)
            return nil
        }
        let content = try await content(of: answer)
        return answer.lifetime.isStored ? try await merged(content, of: answer) : unkept(content, of: answer)
    }

    var former: EntryState? { nil }

    nonisolated(nonsending) func begin() async throws -> Bool { true }

    nonisolated(nonsending) func renewed(by answer: Answer) async throws -> Outcome? { nil }

    nonisolated(nonsending) func isOutdated(_ answer: Answer) async throws -> Bool { false }

    nonisolated(nonsending) func refuse(_ answer: Answer) async throws {
        throw server.refusal(of: subject, by: answer)
    }
}

/// A model or a list that has a request of its own.
protocol FetchTarget: Attempt where Outcome: AgedSnapshot {
    /// The name of its load. It has the latest invalidation in it, so a fetch joins no load from before that, and the request's
    /// headers, since the answer may depend on them.
    var name: String { get }
    /// As it is stored, with unconfirmed changes.
    nonisolated(nonsending) func stored() async throws(ModelCacheError) -> Outcome?
    /// The state of its stored entry.
    nonisolated(nonsending) func storedState() async throws(ModelCacheError) -> EntryState?
}

protocol AgedSnapshot: Sendable {
    var freshness: Freshness { get }
}

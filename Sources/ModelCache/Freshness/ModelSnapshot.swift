import Foundation

/// A model as it is stored, with its age.
public struct ModelSnapshot<Model: CachedModel>: Sendable, Equatable {
    /// The model, with changes that the server has not confirmed yet.
    public let value: Model
    /// When the server's answer came, or the program saved the model; `nil`: it exists by an unconfirmed change only.
    public let fetchedAt: Date?
    /// Whether the model is fresh, and why not.
    public let freshness: Freshness
    /// Whether it shows changes that the server has not confirmed yet.
    public let isChanging: Bool
    /// `false` for one that is returned and not kept.
    var isStored = true
}

/// A list as it is stored, with its age.
public struct ListSnapshot<List: ModelList>: Sendable, Equatable {
    /// The elements that are stored, in the list's order.
    public let elements: [List.Element]
    /// The identities of elements that are not stored any longer.
    public let holes: [List.Element.ID]
    /// Whether the server has more elements after the last one; `false` after a page that it forbids to keep (`no-store`),
    /// since no further page can be requested then; `onFailure` is told.
    public let hasMore: Bool
    /// Whether the server has elements in front of the first one. All else is as for ``hasMore``.
    public let hasPrevious: Bool
    /// When the answer with the first page came; `nil`: the list exists by an unconfirmed change only.
    public let fetchedAt: Date?
    /// The list's own freshness; its elements have their own. Stale for `.holes` where elements are missing.
    public let freshness: Freshness
    /// Whether it shows changes of the list that the server has not confirmed yet.
    public let isChanging: Bool
    /// The details of the whole list from its latest page; `nil` until an answer brings it, and where the type no longer decodes the
    /// stored details. The next load sends no validators then.
    public let details: List.Details?
    /// `false` for one that is returned and not kept.
    var isStored = true

    /// Whether more elements are missing than are stored. The list's own request brings more of them then than one for each.
    var isMostlyMissing: Bool { holes.count > elements.count }

    /// The list with a page that is not kept beyond an end.
    func joined(by page: ModelPage<List.Element>, at end: ListEnd) -> ListSnapshot {
        let known = Set(elements.map(\.id))
        let new = page.elements.filter { !known.contains($0.id) }
        return ListSnapshot(
            elements: end == .back ? elements + new : new + elements,
            holes: holes,
            hasMore: hasMore && end == .front,
            hasPrevious: hasPrevious && end == .back,
            fetchedAt: fetchedAt,
            freshness: freshness,
            isChanging: isChanging,
            details: details,
            isStored: false
        )
    }
}

extension ModelSnapshot: AgedSnapshot {
    /// A model that is not kept.
    init(unkept model: Model, of answer: Answer) {
        self.init(
            value: model,
            fetchedAt: answer.receivedAt,
            freshness: .stale(since: answer.receivedAt, because: .expired),
            isChanging: false,
            isStored: false
        )
    }
}

extension ListSnapshot: AgedSnapshot {
    /// A list that is not kept.
    init(unkept page: DecodedPage<List>, of answer: Answer) {
        self.init(
            elements: page.page.elements,
            holes: [],
            hasMore: false,
            hasPrevious: false,
            fetchedAt: answer.receivedAt,
            freshness: .stale(since: answer.receivedAt, because: .expired),
            isChanging: false,
            details: page.details?.value(List.Details.self),
            isStored: false
        )
    }
}

/// How a fetch uses a stale value that is stored.
public struct FetchMode: Sendable, Hashable {
    enum Base { case freshOrLoaded, staleWhileRevalidate, reload }

    let base: Base
    /// How long the server is waited for where a stored value may be shown; `nil`: as long as it takes.
    var limit: Duration?

    /// A fresh value is returned, a stale one loaded again first. If the server cannot be asked, fails (5xx, 408, 425, 429),
    /// or sends an answer that cannot be decoded or has another identity, the stale one is returned, unless the server has
    /// forbidden it (`must-revalidate`, `no-cache`), its window is over (`stale-if-error`), or it is the answer to other
    /// request headers (`Vary`). Where the server refuses, by any other status, the fetch throws.
    public static let automatic = FetchMode(base: .freshOrLoaded)
    /// As ``automatic``, but the server is not waited for longer than a limit where a stale value may be returned in the
    /// place of an error: then that value is returned, and the load goes on in the background.
    ///
    /// Where no value is stored, or only one that must not be shown, the fetch waits as long as it takes; of several
    /// models, where that is so for one of them.
    ///
    /// - Parameter limit: zero or less: stale values are returned at once.
    public static func automatic(waitingAtMost limit: Duration) -> FetchMode {
        FetchMode(base: .freshOrLoaded, limit: limit)
    }
    /// A stale value is returned at once, and loaded again in the background.
    public static let staleWhileRevalidate = FetchMode(base: .staleWhileRevalidate)
    /// The server is asked, also if a fresh value is stored. If that fails, so does the fetch.
    ///
    /// A request for the value that is under way is waited for, also if it began earlier. After a change that the program
    /// sent to the server itself, it invalidates the value first: see ``Models/invalidate(_:)``.
    public static let reload = FetchMode(base: .reload)
}

/// Whether a model cache asks its server.
public struct ConnectionMode: Sendable, Hashable {
    private enum Base { case online, offline }

    private let base: Base

    /// Fetches ask the server.
    public static let online = ConnectionMode(base: .online)
    /// Fetches return stored values, fresh or stale, and throw `.offline` where none is stored.
    public static let offline = ConnectionMode(base: .offline)
}

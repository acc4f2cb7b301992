import Foundation
import Observation

/// A list for a view: it shows the latest snapshot, as long as there is a reference to it.
///
/// ```swift
/// struct FeedView: View {
///     @State var feed: LiveList<Feed>             // models.live(Feed(topic: "swift"))
///
///     var body: some View {
///         List {
///             ForEach(feed.elements) { Text($0.title) }
///             if feed.hasMore { ProgressView().task { await feed.loadMore() } }
///         }
///         .task { await feed.load() }
///         .refreshable { await feed.reload() }
///     }
/// }
/// ```
///
/// All else is as for ``LiveModel``.
@MainActor
public final class LiveList<List: ModelList>: Observable {
    /// The list that this object shows.
    public let list: List
    private let state: LiveState<ListSnapshot<List>?>
    private let engine: ModelEngine

    init(_ engine: ModelEngine, _ list: List) {
        self.engine = engine
        self.list = list
        let first = try? engine.snapshots.snapshotAtOnce(list)
        state = LiveState(engine.tables, empty: nil, first: first, engine.snapshots.updates(list).withEqualOnes) {
            () async throws(ModelCacheError) in try await engine.snapshots.snapshot(list)
        }
    }

    /// The list with its elements and its age; `nil` where it is not stored.
    public var snapshot: ListSnapshot<List>? { state.snapshot }
    /// The elements that are stored, in the list's order.
    public var elements: [List.Element] { state.snapshot?.elements ?? [] }
    /// The identities of elements that are not stored any longer.
    public var holes: [List.Element.ID] { state.snapshot?.holes ?? [] }
    /// Whether the server has more elements after the last one.
    public var hasMore: Bool { state.snapshot?.hasMore ?? false }
    /// Whether the server has elements in front of the first one.
    public var hasPrevious: Bool { state.snapshot?.hasPrevious ?? false }
    /// The details of the whole list from its latest page; `nil` where it is not stored.
    public var details: List.Details? { state.snapshot?.details }
    /// The list's own freshness; `nil` where it is not stored.
    public var freshness: Freshness? { state.snapshot?.freshness }
    /// Whether a load of this object is under way, or the disk has not been read yet.
    public var isLoading: Bool { state.isLoading }
    /// The failure of the last load of this object; `nil` from the next one's beginning on.
    public var error: ModelCacheError? { state.error }
    /// Whether the cache was closed or erased: nothing changes any longer.
    public var isEnded: Bool { state.isEnded }

    /// Loads the list if it is missing or stale, and returns once it is shown or loading has failed.
    ///
    /// A stale list that is served because loading has failed is no ``error``: its freshness says that it is stale.
    ///
    /// - Parameter mode: how a stale list is used.
    public func load(_ mode: FetchMode = .automatic) async {
        await state.load {
            let fetched = try await engine.lists.fetch(list, mode)
            // A change of the list that is not confirmed shows over every answer.
            return .init(snapshot: fetched, isStored: fetched.isStored || state.snapshot?.isChanging == true)
        }
    }

    /// Asks the server for the first page, and returns when it shows, or ``error`` has the failure.
    public func reload() async { await load(.reload) }

    /// Loads all known pages again, and returns when they show, or ``error`` has the failure. Until then the former list shows.
    public func reloadAllPages() async {
        await state.load {
            let fetched = try await engine.lists.reloadAllPages(of: list)
            return .init(snapshot: fetched, isStored: fetched.isStored || state.snapshot?.isChanging == true)
        }
    }

    /// Loads the page after the last element, if the list has more, and returns when it shows or loading has failed.
    public func loadMore() async { await loadMore(at: .back) }

    /// Loads the page in front of the first element, if the list has one. All else is as for ``loadMore()``.
    public func loadPrevious() async { await loadMore(at: .front) }

    private func loadMore(at end: ListEnd) async {
        await state.load {
            let fetched = try await engine.lists.fetchMore(of: list, at: end)
            return .init(snapshot: fetched, isStored: fetched.isStored)
        }
    }
}

import Foundation
import Observation

/// A model for a view: it shows the latest snapshot, as long as there is a reference to it.
///
/// ```swift
/// struct ArticleView: View {
///     @State var article: LiveModel<Article>      // models.live(Article.self, id: id)
///
///     var body: some View {
///         Text(article.value?.title ?? "")
///             .task { await article.load() }
///             .refreshable { await article.reload() }
///     }
/// }
/// ```
///
/// A model that is in memory shows at once, one on disk soon after the object was made. The server is asked by
/// ``load(_:)`` and ``reload()`` alone. A model that the server forbids to keep (`no-store`) shows until the stored one
/// changes, but not over a change that is not confirmed yet. Changes end with the last reference to the object, and when the
/// cache is closed or erased: a closed cache leaves the last snapshot, an erased one none.
@MainActor
public final class LiveModel<Model: CachedModel>: Observable {
    /// The identity of the model that this object shows.
    public let id: Model.ID
    private let state: LiveState<ModelSnapshot<Model>?>
    private let engine: ModelEngine

    init(_ engine: ModelEngine, _ id: Model.ID) {
        self.engine = engine
        self.id = id
        // A failure is told by the reading that follows.
        let first = try? engine.snapshots.snapshotsInMemory(Model.self, [id.cacheKey])?.first
        state = LiveState(
            engine.tables,
            empty: nil,
            first: first,
            engine.snapshots.updates(Model.self, id).withEqualOnes
        ) {
            () async throws(ModelCacheError) in try await engine.snapshots.snapshot(Model.self, id.cacheKey)
        }
    }

    /// The model with its age; `nil` where it is not stored.
    public var snapshot: ModelSnapshot<Model>? { state.snapshot }
    /// The model, with changes that the server has not confirmed yet; `nil` where it is not stored.
    public var value: Model? { state.snapshot?.value }
    /// Whether a load of this object is under way, or the disk has not been read yet.
    public var isLoading: Bool { state.isLoading }
    /// The failure of the last load of this object; `nil` from the next one's beginning on.
    public var error: ModelCacheError? { state.error }
    /// Whether the cache was closed or erased: nothing changes any longer.
    public var isEnded: Bool { state.isEnded }

    /// Loads the model if it is missing or stale, and returns once it is shown or loading has failed.
    ///
    /// A stale model that is served because loading has failed is no ``error``: its freshness says that it is stale.
    ///
    /// - Parameter mode: how a stale model is used.
    public func load(_ mode: FetchMode = .automatic) async {
        await state.load {
            let fetched = try await engine.loader.fetch(Model.self, id, mode: mode)
            // A change that is not confirmed shows over every answer.
            return .init(snapshot: fetched, isStored: fetched.isStored || state.snapshot?.isChanging == true)
        }
    }

    /// Asks the server, also if the stored model is fresh, and returns when the answer shows, or ``error`` has the failure.
    public func reload() async { await load(.reload) }
}

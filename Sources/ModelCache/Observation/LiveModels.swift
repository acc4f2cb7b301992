import Foundation
import Observation

/// Some models for a view, by identity. All else is as for ``LiveModel``.
@MainActor
public final class LiveModels<Model: CachedModel>: Observable {
    /// The identities of the models that this object shows.
    public let ids: [Model.ID]
    private let state: LiveState<[Model.ID: ModelSnapshot<Model>]>
    private let engine: ModelEngine

    init(_ engine: ModelEngine, _ ids: [Model.ID]) {
        self.engine = engine
        self.ids = ids
        let first = try? engine.snapshots.snapshotsInMemory(Model.self, ids.map(\.cacheKey)).map(Snapshots.byID)
        state = LiveState(
            engine.tables,
            empty: [:],
            first: first,
            engine.snapshots.updates(Model.self, ids).withEqualOnes
        ) {
            () async throws(ModelCacheError) in try await engine.snapshots.snapshotsByID(Model.self, ids)
        }
    }

    /// The models that are stored, with their age.
    public var snapshots: [Model.ID: ModelSnapshot<Model>] { state.snapshot }
    /// The models that are stored, in the order of ``ids``.
    ///
    /// - Complexity: O(*n*) in the number of identities.
    public var values: [Model] { ids.compactMap { state.snapshot[$0]?.value } }
    /// Whether a load of this object is under way, or the disk has not been read yet.
    public var isLoading: Bool { state.isLoading }
    /// The failure of the last load of this object; `nil` from the next one's beginning on.
    public var error: ModelCacheError? { state.error }
    /// Whether the cache was closed or erased: nothing changes any longer.
    public var isEnded: Bool { state.isEnded }

    /// A model; `nil` where it is not stored.
    public subscript(id: Model.ID) -> Model? { state.snapshot[id]?.value }

    /// Loads missing and stale models, and returns when they are shown or loading has failed.
    ///
    /// - Parameter mode: how stale models are used.
    public func load(_ mode: FetchMode = .automatic) async {
        await state.load {
            let fetched = try await engine.loader.fetch(Model.self, ids, mode: mode)
            // A change that is not confirmed shows over every answer.
            let isChanging = state.snapshot.values.contains(where: \.isChanging)
            return .init(snapshot: fetched, isStored: isChanging || fetched.values.allSatisfy(\.isStored))
        }
    }

    /// Asks the server for all of them, and returns when the answer shows, or ``error`` has the failure.
    public func reload() async { await load(.reload) }
}

import Observation

/// The common part of the objects for views: the latest snapshot, and the state of their loads.
///
/// The task that follows the snapshots knows the object weakly, and is cancelled with it.
@MainActor @Observable
final class LiveState<Snapshot: Sendable & Equatable> {
    private(set) var snapshot: Snapshot
    private(set) var error: ModelCacheError?
    private(set) var isEnded = false
    private var loadCount = 0
    /// Whether a snapshot was shown, or nothing will be.
    private var isRead = false

    @ObservationIgnored private let engine: ModelEngine
    @ObservationIgnored private let empty: Snapshot
    @ObservationIgnored private let read: @Sendable () async throws(ModelCacheError) -> Snapshot
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var shownCount = 0
    @ObservationIgnored private var lastLoad = 0

    /// - Parameters:
    ///   - empty: the snapshot where nothing is stored.
    ///   - updates: all snapshots, equal ones as well: another one may have been shown in between.
    ///   - read: makes a snapshot of this moment.
    init(
        _ engine: ModelEngine,
        empty: Snapshot,
        _ updates: Updates<Snapshot>,
        read: @escaping @Sendable () async throws(ModelCacheError) -> Snapshot
    ) {
        self.engine = engine
        self.empty = empty
        self.read = read
        snapshot = empty
        following = Task { [weak self] in
            for await snapshot in updates { self?.show(snapshot) }
            self?.end()
        }
    }

    deinit { following?.cancel() }

    var isLoading: Bool { loadCount > 0 || !isRead }

    private func show(_ snapshot: Snapshot) {
        shownCount += 1
        isRead = true
        // Views are told of changes only.
        if self.snapshot != snapshot { self.snapshot = snapshot }
    }

    private func end() {
        isRead = true
        isEnded = true
        // After a user has signed out, nothing of the account stays on the screen.
        if engine.isErased { snapshot = empty }
    }

    /// Runs a load, and shows its result before it returns.
    func load(_ body: () async throws -> Void) async {
        lastLoad += 1
        let number = lastLoad
        loadCount += 1
        defer { loadCount -= 1 }
        error = nil
        do {
            try await body()
            try await catchUp()
        } catch let failure as ModelCacheError {
            isRead = true
            // An earlier load that fails later says nothing of the present.
            if number == lastLoad { error = failure }
        } catch {
            // Cancelled: by the view that has gone, or by the cache that has ended.
        }
    }

    /// Shows the present snapshot, unless the following task was quicker. That task also shows changes that come after
    /// it was read.
    private func catchUp() async throws(ModelCacheError) {
        let before = shownCount
        let snapshot = try await read()
        if shownCount == before, !isEnded { show(snapshot) }
    }
}

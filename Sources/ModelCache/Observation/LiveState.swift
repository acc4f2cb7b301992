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

    @ObservationIgnored private let tables: ModelTables
    @ObservationIgnored private let empty: Snapshot
    @ObservationIgnored private let read: @Sendable () async throws(ModelCacheError) -> Snapshot
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var shownCount = 0
    /// The last snapshot of the stored models.
    @ObservationIgnored private var stored: Snapshot
    /// Whether the snapshot is of an answer that is not kept. It shows until the stored models change.
    @ObservationIgnored private var isUnkept = false
    @ObservationIgnored private var lastLoad = 0
    /// How often the stored models have changed since they were read.
    @ObservationIgnored private var changeCount = 0
    /// The number of the latest load whose result was shown.
    @ObservationIgnored private var lastShown = 0

    /// - Parameters:
    ///   - empty: the snapshot where nothing is stored.
    ///   - first: the snapshot of this moment; `nil` if memory does not have it.
    ///   - updates: all snapshots, equal ones as well: another one may have been shown in between.
    ///   - read: makes a snapshot of this moment.
    init(
        _ tables: ModelTables,
        empty: Snapshot,
        first: Snapshot?,
        _ updates: Updates<Snapshot>,
        read: @escaping @Sendable () async throws(ModelCacheError) -> Snapshot
    ) {
        self.tables = tables
        self.empty = empty
        self.read = read
        snapshot = first ?? empty
        stored = first ?? empty
        isRead = first != nil
        following = Task { [weak self] in
            for await snapshot in updates { self?.show(snapshot) }
            self?.end()
        }
    }

    deinit { following?.cancel() }

    var isLoading: Bool { loadCount > 0 || !isRead }

    /// Shows a snapshot of the stored models.
    private func show(_ stored: Snapshot) {
        shownCount += 1
        let hasChanged = stored != self.stored
        // The first look at the disk is not a change.
        if isRead, hasChanged { changeCount += 1 }
        isRead = true
        self.stored = stored
        if isUnkept, !hasChanged { return }
        isUnkept = false
        // Views are told of changes only.
        if snapshot != stored { snapshot = stored }
    }

    private func end() {
        isRead = true
        isEnded = true
        // After a user has signed out, nothing of the account stays on the screen.
        if tables.isErased { (snapshot, stored) = (empty, empty) }
    }

    /// The result of a load.
    struct Loaded {
        let snapshot: Snapshot
        /// Whether it is of the stored models; otherwise of an answer that is not kept.
        let isStored: Bool
    }

    /// Runs a load, and shows its result before it returns.
    func load(_ body: () async throws -> Loaded) async {
        lastLoad += 1
        let number = lastLoad
        loadCount += 1
        defer { loadCount -= 1 }
        error = nil
        let before = changeCount
        do {
            let loaded = try await body()
            if loaded.isStored { isUnkept = false }
            try await catchUp()
            // A change of the stored models in the meantime is later than the answer, and so is the result of a later load.
            if !loaded.isStored, !isEnded, changeCount == before, number > lastShown {
                isUnkept = true
                snapshot = loaded.snapshot
            }
            lastShown = max(lastShown, number)
        } catch let failure as ModelCacheError {
            isRead = true
            if failure.code == .notFound {
                // The server has deleted it, and so has the cache.
                isUnkept = false
                do { try await catchUp() } catch { snapshot = stored }
            }
            // An earlier load that fails later says nothing of the present.
            if number == lastLoad { error = failure }
        } catch {
            // Cancelled: by the view that has gone, or by the cache that has ended.
        }
    }

    /// Shows the present snapshot of the stored models, unless the following task was quicker. That task also shows changes
    /// that come after it was read.
    private func catchUp() async throws(ModelCacheError) {
        let before = shownCount
        let snapshot = try await read()
        if shownCount == before, !isEnded { show(snapshot) }
    }
}

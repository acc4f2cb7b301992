/// The snapshots of a model, some models or a list: the present one first, then one after each change.
///
/// Only the latest is given: where several changes came since the last one was taken, they are one snapshot, and nothing
/// is queued. Snapshots with the same content are skipped. Time alone makes no snapshot: `freshness` is that of the moment
/// at which it was made. Observing asks no server.
///
/// Each loop over it observes by itself. It ends when its task is cancelled, and when the cache is closed or erased.
public struct Updates<Snapshot: Sendable>: AsyncSequence, Sendable {
    /// The snapshot that each step gives.
    public typealias Element = Snapshot

    let make: @Sendable () -> Iterator

    /// An iteration of its own, which begins with the present snapshot.
    public func makeAsyncIterator() -> Iterator { make() }

    /// The same with a snapshot after each change, also where its content is that of the one before.
    var withEqualOnes: Updates {
        Updates { [make] in
            let iterator = make()
            iterator.skipsEqualOnes = false
            return iterator
        }
    }

    /// One iteration over the snapshots.
    public final class Iterator: AsyncIteratorProtocol {
        private let tables: ModelTables
        private let observer = Observer()
        /// Gives the entries to observe to the closure before it reads them.
        private let read: @Sendable (@Sendable (Set<EntryName>) -> Void) async throws(ModelCacheError) -> Snapshot
        private let isSame: @Sendable (Snapshot, Snapshot) -> Bool
        fileprivate var skipsEqualOnes = true
        private var last: Snapshot?

        init(
            _ tables: ModelTables,
            isSame: @escaping @Sendable (Snapshot, Snapshot) -> Bool,
            _ read:
                @escaping @Sendable (@Sendable (Set<EntryName>) -> Void) async throws(ModelCacheError) -> Snapshot
        ) {
            self.tables = tables
            self.isSame = isSame
            self.read = read
        }

        deinit { tables.bus.remove(observer) }

        /// The next snapshot: the present one at first, later the latest after a change; `nil` at the end.
        public func next() async -> Snapshot? { await next(isolation: nil) }

        /// The next snapshot: the present one at first, later the latest after a change; `nil` at the end.
        public func next(isolation actor: isolated (any Actor)?) async -> Snapshot? {
            while await observer.changed() {
                do throws(ModelCacheError) {
                    let (bus, observer) = (tables.bus, observer)
                    let snapshot = try await read { names in bus.observe(names, observer) }
                    if skipsEqualOnes {
                        if let last, isSame(last, snapshot) { continue }
                        last = snapshot
                    }
                    return snapshot
                } catch {
                    // A disk that fails shows nothing new; the next change is another attempt.
                    if error.code == .closed { break }
                    tables.report(error)
                }
            }
            tables.bus.remove(observer)
            // A loop that has ended retains no models, even if there is still a reference to it.
            last = nil
            return nil
        }
    }
}

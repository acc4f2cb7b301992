import Synchronization
import TypedCache

extension Snapshots {
    func updates<Model: CachedModel>(_ type: Model.Type, _ id: Model.ID) -> Updates<ModelSnapshot<Model>?> {
        let name = ModelTable<Model>.name(id.cacheKey)
        return Updates {
            Updates.Iterator(tables, isSame: { Self.isSame($0, $1) }) { observe throws(ModelCacheError) in
                observe([name])
                return try await snapshot(type, id.cacheKey)
            }
        }
    }

    func updates<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) -> Updates<[Model.ID: ModelSnapshot<Model>]> {
        let names = Set(ids.map { ModelTable<Model>.name($0.cacheKey) })
        let isSame: @Sendable ([Model.ID: ModelSnapshot<Model>], [Model.ID: ModelSnapshot<Model>]) -> Bool = {
            left,
            right in
            left.count == right.count && left.allSatisfy { id, snapshot in Self.isSame(snapshot, right[id]) }
        }
        return Updates {
            Updates.Iterator(tables, isSame: isSame) { observe throws(ModelCacheError) in
                observe(names)
                return try await snapshotsByID(type, ids)
            }
        }
    }

    func updates<List: ModelList>(_ list: List) -> Updates<ListSnapshot<List>?> {
        let name = ListTable.name(list.listKey)
        return Updates {
            let observed = Mutex<[String]?>(nil)
            return Updates.Iterator(tables, isSame: { Self.isSame($0, $1) }) { observe throws(ModelCacheError) in
                // First the list alone, so that no change of it is missed while it is read.
                if observed.withLock({ $0 == nil }) { observe([name]) }
                let ids = try await shown(list)?.entry.record.ids ?? []
                // Mostly an element has changed, and the list is the same.
                if observed.withLock({ $0 != ids }) {
                    observe(Set(ids.map(ModelTable<List.Element>.name)).union([name]))
                    observed.withLock { $0 = ids }
                }
                // Once more, with its elements in one step: if it has others by now, the observer is told.
                return try await snapshot(list)
            }
        }
    }

    /// Whether two snapshots show the same: when it was fetched does not show.
    private static func isSame<Model>(_ left: ModelSnapshot<Model>?, _ right: ModelSnapshot<Model>?) -> Bool {
        left?.value == right?.value && left?.freshness.isFresh == right?.freshness.isFresh
            && left?.isChanging == right?.isChanging
    }

    private static func isSame<List>(_ left: ListSnapshot<List>?, _ right: ListSnapshot<List>?) -> Bool {
        left?.elements == right?.elements && left?.holes == right?.holes && left?.hasMore == right?.hasMore
            && left?.hasPrevious == right?.hasPrevious
            && left?.details == right?.details
            && left?.freshness.isFresh == right?.freshness.isFresh && left?.isChanging == right?.isChanging
    }
}

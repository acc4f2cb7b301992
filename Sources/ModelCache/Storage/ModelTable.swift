import Foundation
import KeyedArchive
import TypedCache

/// The models of one type.
final class ModelTable<Model: CachedModel>: Sendable {
    let records: RecordTable<ModelRecord<Model>>
    let layers = Layers<Model>()
    let removals = Removals()

    init(_ cache: Cache<ModelRecord<Model>>, report: @escaping @Sendable (ModelCacheError) -> Void) {
        records = RecordTable(cache) { error, key throws(CacheError) in
            guard let archive = try cache.archive(forKey: key) else { return nil }
            do {
                return try ModelMigration<Model>(archive).migrated()
            } catch {
                let subject = ModelCacheError.Subject.model(Model.self, key: key)
                report(
                    ModelCacheError(
                        .decodingFailed,
                        "the stored \(subject) cannot be read, and counts as missing",
                        of: subject,
                        cause: error
                    )
                )
                return nil
            }
        }
    }

    /// Puts one entry in the place of the present one; `nil` removes it.
    func merged(_ key: String, to record: ModelRecord<Model>?) -> MergedGroup {
        let due = records.change(key, to: record, tags: record?.model.tags ?? [])
        return MergedGroup(model: Model.modelName, due: due) { [records] in records.write(due) }
    }

    static func name(_ key: String) -> EntryName { EntryName(model: Model.modelName, key: key) }
}

extension ModelTable: Closable {
    func close() -> ModelCacheError? { closing(records.cache) }
    func trimMemory(toCount count: Int) { records.cache.trimMemory(toCount: count) }
}

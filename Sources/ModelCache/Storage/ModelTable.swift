import Foundation
import KeyedArchive
import TypedCache

/// The models of one type.
final class ModelTable<Model: CachedModel>: Sendable {
    let records: RecordTable<ModelRecord<Model>>
    let layers = Layers<Model>()
    let removals: Removals
    private let trial = CodingTrial<Model>()
    private let report: @Sendable (ModelCacheError) -> Void

    init(
        _ cache: Cache<ModelRecord<Model>>,
        removals: Removals,
        unreadable: UnreadableEntries,
        writer: DiskWriter,
        report: @escaping @Sendable (ModelCacheError) -> Void
    ) {
        self.removals = removals
        self.report = report
        records = RecordTable(cache) { _, key throws(CacheError) in
            guard let entry = try cache.undecodedEntry(forKey: key) else { return nil }
            do {
                let migration = ModelMigration<Model>(entry.archive)
                // It may have been saved again since it was refused.
                let refusal: any Error
                do { return try migration.unchanged() } catch { refusal = error }
                guard let migrated = try migration.migrated() else { throw refusal }
                Self.save(migrated, over: entry, in: cache, writer, report)
                return migrated
            } catch {
                unreadable.tell(key, because: error)
                return nil
            }
        }
    }

    /// Has a migrated model written, so that it is migrated once; the caller does not wait for that.
    ///
    /// After all changes that were made before, and not over one of them: only the entry that was read gives way. It stays
    /// where the disk refuses the new one.
    private static func save(
        _ migrated: ModelRecord<Model>,
        over entry: UndecodedEntry,
        in cache: Cache<ModelRecord<Model>>,
        _ writer: DiskWriter,
        _ report: @escaping @Sendable (ModelCacheError) -> Void
    ) {
        writer.add(1) {
            do throws(CacheError) {
                try cache.rewrite(entry, as: migrated, tags: migrated.model.tags)
            } catch {
                report(ModelCacheError(error))
            }
        }
    }

    /// Puts some entries in the place of the present ones; `nil` removes one. None changes nothing.
    func merged(_ entries: KeyValuePairs<String, ModelRecord<Model>?>) -> MergedGroup {
        let revision = entries.compactMap { $0.value?.state.revision }.max() ?? .none
        return merged(
            RecordTable.Changes(entries.map { ($0.key, $0.value, $0.value?.model.tags ?? []) }),
            at: revision
        )
    }

    /// Puts entries in the place of the present ones.
    ///
    /// - Parameter revision: at least that of each entry.
    func merged(_ changes: RecordTable<ModelRecord<Model>>.Changes, at revision: Revision) -> MergedGroup {
        removals.wrote(at: revision)
        let due = records.change(changes)
        return MergedGroup(model: Model.modelName, due: due) { [self] in
            trial.tryOnce(changes, report)
            return records.write(due)
        }
    }

    /// Whether an answer's model gave way to a later change, so that the server is asked again: the program removed the model,
    /// or changed it before it was stored; or a part of it was requested later. Merged over the whole model, the part's old
    /// fields would count as new.
    func hasOvertaken(
        _ model: Model,
        of answer: Answer,
        merged stored: ModelRecord<Model>?,
        key: String,
        in bookkeeping: Bookkeeping
    ) -> Bool {
        guard let stored else { return removals.covers(answer.revision, of: key) }
        return bookkeeping.isLater(stored.state, than: answer) && !stored.isComplete && Model.isComplete(model)
    }

    static func name(_ key: String) -> EntryName { EntryName(model: Model.modelName, key: key) }
}

extension ModelTable: Closable {
    func close() -> ModelCacheError? { closing(records.cache) }
    func trimMemory(toCount count: Int) { records.cache.trimMemory(toCount: count) }
    func rekey() throws(CacheError) -> Rekeyed { try records.cache.rekey() }
}

import KeyedArchive
import Synchronization
import TypedCache

/// Tries whether a type's models survive encoding and decoding, with the first model that is written. A type that reads the
/// server's form and writes its own is a miss at the next launch.
///
/// In debug builds alone.
final class CodingTrial<Model: CachedModel>: Sendable {
    private let isDone = Atomic(false)

    /// Tries the first of some entries, unless one was tried.
    ///
    /// - Parameter report: is told of a type that fails.
    func tryOnce(
        _ changes: RecordTable<ModelRecord<Model>>.Changes,
        _ report: (ModelCacheError) -> Void
    ) {
        #if DEBUG
            guard !isDone.load(ordering: .relaxed),
                let record = (0..<changes.count).lazy.compactMap(changes.record).first
            else { return }
            isDone.store(true, ordering: .relaxed)
            guard let fault = Self.fault(of: record) else { return }
            let remedy =
                "its models are missing after the next launch; give it an encode(to:) that writes what it reads"
            let message = "\(Model.self) does not decode what it encodes (\(fault)): \(remedy)"
            report(ModelCacheError(.invalidModel, message, of: .model(Model.self, key: record.model.id.cacheKey)))
        #endif
    }

    #if DEBUG
        /// The fault in some words; `nil` for a sound model, and for one that cannot be encoded, which its save reports.
        private static func fault(of record: ModelRecord<Model>) -> String? {
            guard let archive = try? KeyedArchiver.archive(encoding: record) else { return nil }
            do throws(ArchiveError) {
                let again = try decode(archive)
                if again.model == record.model { return nil }
                // Fields that are not encoded may differ, sets may be encoded in another order, and numbers may equal nothing.
                let second = try KeyedArchiver.archive(encoding: again)
                if second == archive { return nil }
                return try decode(second).model == again.model ? nil : "another value comes out"
            } catch {
                return ModelCacheError.words(for: error)
            }
        }

        private static func decode(_ archive: [UInt8]) throws(ArchiveError) -> ModelRecord<Model> {
            try KeyedUnarchiver.unarchive(decoding: ModelRecord<Model>.self, from: archive)
        }
    #endif
}

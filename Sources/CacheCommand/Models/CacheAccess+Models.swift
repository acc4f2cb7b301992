import Foundation

extension CacheAccess {
    /// The entries with their kinds, if the library ModelCache has made them.
    ///
    /// The first entry decides for all, since a cache of that library holds one kind. So one archive is read from a
    /// cache of models, or of another program; lists are read one by one, for their numbers of elements.
    func namingModels(_ entries: [CacheEntry], at date: Date) -> [CacheEntry] {
        guard let first = entries.first, let sample = modelEntry(first.key, at: date) else { return entries }
        return entries.map { entry in
            var named = entry
            if case .list = sample { named.model = modelEntry(entry.key, at: date) } else { named.model = sample }
            return named
        }
    }

    /// `nil` for an entry of another program, and for one that cannot be read: `verify` tells of that.
    private func modelEntry(_ key: String, at date: Date) -> ModelEntry? {
        do throws(CommandFailure) {
            return ModelEntry(try tree(of: key, at: date))
        } catch {
            return nil
        }
    }
}

import Foundation

/// Names the kinds of a cache's entries, if the library ModelCache has made them.
///
/// The first entry decides for all, since a cache of that library holds one kind. So one archive is read from a cache of
/// models, or of another program; lists are read one by one, for their numbers of elements.
struct ModelNaming {
    private enum Kind {
        case unknown
        case none
        case known(ModelEntry)
    }

    private let cache: any CacheAccess
    private let date: Date
    private var kind = Kind.unknown

    init(in cache: any CacheAccess, at date: Date) {
        self.cache = cache
        self.date = date
    }

    /// The row with its entry's kind.
    mutating func name(_ row: EntryRow) -> EntryRow {
        var named = row
        switch kind {
        case .unknown:
            named.model = ModelEntry(key: row.key, in: cache, at: date)
            kind = named.model.map(Kind.known) ?? .none
        case .none: break
        case .known(.list): named.model = ModelEntry(key: row.key, in: cache, at: date)
        case .known(let sample): named.model = sample
        }
        return named
    }
}

/// Something that keeps articles on disk, or their bytes.
protocol DiskContestant: AnyObject {
    func save(_ item: DiskItem, forKey key: String) throws
    /// - Returns: whether there is something under `key`; it was read, all of it.
    func fetch(forKey key: String) throws -> Bool
    func remove(forKey key: String) throws
    /// Runs `body` as one transaction, if the store has them, since that is faster.
    func together(_ body: () throws -> Void) throws
}

extension DiskContestant {
    func together(_ body: () throws -> Void) throws { try body() }

    /// Saves under the first keys.
    func fill(_ entryCount: Int, with items: [DiskItem]) throws {
        try together {
            for index in 0..<entryCount { try save(items[index % items.count], forKey: DiskKeys.all[index]) }
        }
    }

    /// Fetches one of the first `entryCount` keys; throws if it is missing, since a miss would measure something else.
    func fetchExisting(_ index: Int, of entryCount: Int) throws {
        let key = DiskKeys.scattered(index, of: entryCount)
        guard try fetch(forKey: key) else { throw BenchmarkError("\(key) is not there") }
    }

    /// Saves over one of the first `entryCount` keys, each time another item than before.
    func saveOver(_ index: Int, of entryCount: Int, with items: [DiskItem]) throws {
        let item = items[(index + index / entryCount) % items.count]
        try save(item, forKey: DiskKeys.scattered(index, of: entryCount))
    }
}

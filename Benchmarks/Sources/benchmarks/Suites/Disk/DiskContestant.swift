/// Something that keeps documents on disk, or their bytes.
protocol DiskContestant: AnyObject {
    func save(_ item: DiskItem, forKey key: String) throws
    /// - Returns: whether there is something under `key`; it was read, all of it.
    func fetch(forKey key: String) throws -> Bool
    func remove(forKey key: String) throws
    /// Does what `body` does as one piece of work, if it can, since that is faster.
    func together(_ body: () throws -> Void) throws
}

extension DiskContestant {
    func together(_ body: () throws -> Void) throws { try body() }
}

/// Something on disk that keeps bytes under keys.
protocol ByteStore: AnyObject {
    func save(_ bytes: [UInt8], forKey key: String) throws
    /// - Returns: `nil` if there is nothing under `key`.
    func fetch(forKey key: String) throws -> [UInt8]?
    func remove(forKey key: String) throws
    /// Runs `body` as one transaction, if the store has them, since that is faster.
    func together(_ body: () throws -> Void) throws
}

extension ByteStore {
    func together(_ body: () throws -> Void) throws { try body() }
}

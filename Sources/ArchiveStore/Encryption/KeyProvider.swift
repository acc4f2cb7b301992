import Sealing

/// Where a store's keys come from: it is asked each time that the store's directory is opened, which it is again when
/// an entry has another key.
package struct KeyProvider: Sendable {
    private let give: @Sendable () throws -> SealingKeys

    package init(_ give: @escaping @Sendable () throws -> SealingKeys) { self.give = give }

    /// Gives keys that are made of these for one cache, so that the files of another cache in its place stay locked.
    package func bound(toCache name: String) -> KeyProvider {
        KeyProvider { [give] in try give().map { $0.bound(toCache: name) } }
    }

    /// - Throws: `.locked` if this build cannot decrypt, or the keys are not to be had.
    func keys(for path: String) throws(StoreError) -> SealingKeys {
        guard CipherAlgorithm.isAvailable else {
            throw .locked(path, "this program was built without the package's trait Encryption")
        }
        do {
            return try give()
        } catch {
            // Not the error's text, which may tell of keys.
            throw .locked(path, "its keys cannot be had (\(type(of: error)))")
        }
    }
}

import ArchiveStore

/// The result of encrypting a cache's entries again with another key.
public struct Rekeyed: Sendable, Hashable {
    /// The entries that were written again.
    public let entryCount: Int
    /// Their bytes on disk.
    public let size: ByteCount
    /// The numbers of former keys that files still have; 0 stands for an unknown one. Empty: former keys can be forgotten.
    public let formerKeys: Set<UInt64>

    package init(_ result: Rekeying) {
        entryCount = result.entryCount
        size = .bytes(result.byteCount)
        formerKeys = result.formerKeys
    }
}

extension Cache {
    /// Encrypts every entry on disk with the current key that has a former one, and the index, too.
    ///
    /// Asks the provider of ``DiskSettings/Encryption/keys(_:)`` first: the current key is the one that it gives now. Other
    /// calls and other processes may use the cache in the meantime, and the entries stay as they are; a cache at its limit on
    /// disk may evict some for the room. If the process ends in between, both keys are needed until it is called again.
    /// Blocks on disk I/O.
    ///
    /// A process whose provider still gives the former key as the current one would go on to save with it: change what
    /// providers give first. Does nothing for a cache that is not encrypted. Of a cache on a server, values there keep their
    /// key until they are saved again, and ``Rekeyed/formerKeys`` is not empty.
    ///
    /// - Returns: the entries that were written again, and the former keys that are still needed.
    /// - Throws: ``CacheError`` with code `.locked` if the provider throws, or does not give the former key of an entry; or
    ///   `.io`. Both keys are needed then.
    /// - Complexity: O(*n*) in the bytes of the files up to the last one with a former key.
    @discardableResult
    public func rekey() throws(CacheError) -> Rekeyed { try core.rekey() }

    /// Encrypts every entry on disk with the current key that has a former one, and the index, too.
    ///
    /// Suspends while they are written. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func rekey() async throws(CacheError) -> Rekeyed {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.rekey() }
    }
}

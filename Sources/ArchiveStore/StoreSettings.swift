/// The guarantees that a store is asked for, and its limits.
package struct StoreSettings: Sendable {
    /// The failures that a save survives once it has returned.
    package enum Durability: Sendable {
        /// The end of this process, however it comes.
        case process
        /// A failure of power as well: the file and the directory that names it are on the device.
        case power
    }

    /// The largest archive in bytes.
    package var maximumArchiveByteCount = 1 << 30
    package var durability = Durability.process
    /// Where the keys come from that the files are encrypted with; `nil`: they are not encrypted.
    package var keys: KeyProvider?
    /// How archives saved from now on are compressed.
    package var compression = ArchiveCompression.automatic
    /// The most bytes of entries, without index and journal; `nil`: no limit. Those of a packed store are its segments.
    package var byteLimit: Int?
    /// The most entries; `nil`: no limit.
    package var countLimit: Int?
    /// How many bytes must stay free on the volume.
    package var minimumFreeByteCount = 0
    /// Whether ``ArchiveStore/changesByOthers()`` reports the changes by other processes.
    package var followsOthers = false
    /// Called with the path of the store's directory each time it is opened, before entries are read or written there;
    /// `nil`: nothing is. If it throws, the directory is not opened.
    package var prepare: (@Sendable (_ directory: String) throws(StoreError) -> Void)?

    /// The length in bytes to which segments after the first grow in a small packed store without a limit. Simulations set
    /// a shorter one, so that few saves fill several segments.
    var leastSegmentByteCount = 1 << 19

    package init() {}

    /// Whether entries may have to be evicted.
    var isLimited: Bool { byteLimit != nil || countLimit != nil || minimumFreeByteCount > 0 }

    /// Whether a saved entry must be on the device before the save returns.
    var isDurable: Bool { durability == .power }

    /// The longest archive that a store saves or returns, in bytes.
    var archiveByteLimit: Int { min(max(0, maximumArchiveByteCount), Zlib.largestByteCount) }

    /// Refuses an archive that is larger than the largest one.
    func checkArchive(byteCount: Int) throws(StoreError) {
        guard byteCount > archiveByteLimit else { return }
        throw StoreError.tooLarge(byteCount, limit: archiveByteLimit)
    }

    /// Refuses an entry, with all that belongs to it, that is larger than all entries together may be.
    func checkEntry(byteCount: Int) throws(StoreError) {
        if countLimit == 0 { throw StoreError.noEntries }
        guard let byteLimit, byteCount > byteLimit else { return }
        throw StoreError.tooLarge(byteCount, limit: byteLimit)
    }
}

/// A store's user: answers its questions and is told of its changes. Called on any thread, without a lock held unless
/// said.
package protocol StoreUser: AnyObject, Sendable {
    /// Whether an entry is in use elsewhere, in memory say, and should not be evicted before other entries.
    func isInUse(_ key: String) -> Bool
    /// How often an entry was used elsewhere since this was last asked, and counts from 0 again. Called under the
    /// store's lock, so it must not call the store.
    func takeUses(of key: String) -> UInt8
    /// An entry was evicted to make room.
    func didEvict(_ entry: EntryInformation)
    /// An entry that had expired was removed to make room.
    func didExpire(_ entry: EntryInformation)
    /// A save that had returned failed.
    ///
    /// - Parameter save: the save's number, if the entry that it was to replace may still be there, and must not be used;
    ///   `nil` if that is gone.
    func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?)
    /// All entries are gone, but not by a call of this store: its directory was removed, or another one put in its
    /// place.
    func didLoseEntries()
}

extension StoreUser {
    package func takeUses(of key: String) -> UInt8 { 0 }
    package func didExpire(_ entry: EntryInformation) { didEvict(entry) }
    package func didFail(toSave key: String, _ error: StoreError, leavingStale save: Int?) {}
    package func didLoseEntries() {}
}

/// A weak reference to a store's user: does not keep the user alive.
struct StoreUserReference: Sendable {
    weak let user: (any StoreUser)?

    init(_ user: (any StoreUser)? = nil) { self.user = user }
}

/// Stands for a key where the key itself is too long: 128 bits of a hash.
package struct KeyDigest: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// That of no key.
    static let none = KeyDigest(high: 0, low: 0)

    /// By SipHash with a fixed key: the same in every process.
    package init(hashing key: String) { self.init(hashing: [UInt8](key.utf8)) }

    /// As above, of a key's UTF-8 bytes.
    init(hashing key: [UInt8]) {
        let hash = SipHash128(key)
        self.init(high: hash.high, low: hash.low)
    }
}

/// The changes by other processes since the last call that asked for them.
package enum ChangesByOthers: Sendable {
    /// The digests of the keys of entries that were saved or removed; empty if there are none.
    case keys([KeyDigest])
    /// As `keys`, and the digests of some keys whose entries may have been changed, by calls of this process perhaps:
    /// memory's entries may be compared with the store's, see ``RemoteStore``.
    case keysAndDoubts(changed: [KeyDigest], doubtful: [KeyDigest])
    /// Anything may have changed, and memory's entries may be compared with the store's.
    case doubts
    /// Anything may have changed.
    case everything
}

import ArchiveStore

/// How much a cache may take on disk, and how durable its saves are.
public struct DiskSettings: Sendable, Hashable {
    /// The failures that an entry survives once its save has returned.
    public struct Durability: Sendable, Hashable {
        let waitsForDevice: Bool

        /// The end of the process, however it comes.
        public static let process = Durability(waitsForDevice: false)
        /// A failure of power as well: the entry's bytes, and the directory that names their file, are on the device.
        /// A save waits for that, which takes milliseconds on many devices.
        public static let power = Durability(waitsForDevice: true)
    }

    /// When a save writes.
    public struct Writing: Sendable, Hashable {
        /// The most bytes of archives that wait to be written; `nil`: none waits.
        let queueLimit: ByteCount?

        /// Before it returns.
        public static let through = Writing(queueLimit: nil)

        /// Later, in the background, while no more than `limit` bytes of archives wait; a save that would exceed that
        /// waits itself. Fetches see the waiting entries. They are lost with the process, unless ``Cache/flush()``
        /// returned after they were saved.
        public static func behind(limit: ByteCount) -> Writing { Writing(queueLimit: limit) }
    }

    /// How entries are kept on disk.
    public struct Layout: Sendable, Hashable, CaseIterable {
        private enum Base: String { case automatic, packed, files }

        private let base: Base

        /// As the cache's directory has them. A new one is `packed`, unless the environment variable
        /// `TYPED_CACHE_LAYOUT` says `files`.
        public static let automatic = Layout(base: .automatic)
        /// One after another in a few files that are appended to: faster, and much smaller for many small values.
        public static let packed = Layout(base: .packed)
        /// Each in its own file, which any zlib tool can inflate.
        public static let files = Layout(base: .files)

        /// All layouts, `.automatic` included.
        public static let allCases = [automatic, packed, files]
    }

    /// `.automatic` by default. A layout that differs from the existing directory's is refused with
    /// `.invalidDirectory`; `typed-cache export` and `import` move the entries.
    public var layout: Layout
    /// The most bytes of entries on disk; `nil`: no limit.
    ///
    /// Counts the segments of a packed cache, with all that is in them; with files, the entries' files. Not counted
    /// are the index of a packed cache (about 13 bytes for each entry, 3 KiB and dictionaries, and as much again
    /// while it is written), the journal of a cache with files (32 to 128 bytes for each entry, or up to 64 KiB), and
    /// the space that a file's blocks take beyond its length. For 34,006 cities that is an index of 0.45 MB beside
    /// segments of 3.5 MB.
    ///
    /// A packed cache never exceeds it, one with files by no more than one entry. An entry that is larger than the
    /// limit is refused.
    public var byteLimit: ByteCount?
    /// The most entries; `nil`: no limit. Less than zero counts as zero.
    public var countLimit: Int?
    /// The space on the volume that the cache leaves free. A save that would take more evicts other entries first; if
    /// that is not enough, it fails with `.io`, and the message names this setting.
    public var minimumFreeSpace: ByteCount
    /// `.process` by default.
    public var durability: Durability
    /// `.through` by default.
    public var writing: Writing
    /// `.automatic` by default. Applies to entries that are saved from now on; every cache reads the entries that any
    /// other one has written.
    public var compression: Compression
    /// `.none` by default.
    public var encryption: Encryption
    /// `.automatic` by default. Set for the cache's directory and all files in it when the cache is opened, before the first
    /// entry is written; opening throws `.io` if the system refuses. `.automatic` leaves an existing directory as it is.
    public var dataProtection: DataProtection
    /// Whether backups of the device or the Mac leave the cache out; `false` by default, which leaves the directory as it is.
    ///
    /// Set `true` for values that can be loaded again, in any folder but `Library/Caches`, which is never backed up. Marks
    /// the cache's directory each time it is opened, which throws `.io` if the system refuses. Has no effect on Linux.
    public var isExcludedFromBackup: Bool
    /// Whether hits in memory look whether another process has changed the entry, which takes about a microsecond
    /// where nothing has changed. Otherwise another process's changes are seen by the next fetch that reads the disk.
    public var followsOtherProcesses: Bool
    /// Whether this process publishes the cache's ``CacheStatistics`` and sizes, for `typed-cache top` and other
    /// programs of this user; `false` by default.
    ///
    /// A file of some 300 bytes in the cache's directory is replaced in the background, once a second where something
    /// has changed and every 10 seconds otherwise, and removed when the cache is closed or dropped. Fetches and saves
    /// do not take longer. The observer receives one event ``CacheEvent/Kind/failed`` if that fails, for example on a
    /// full volume.
    public var publishesStatistics: Bool

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - layout: how entries are kept on disk.
    ///   - byteLimit: the most bytes of entries, without index and journal; `nil` for no limit.
    ///   - countLimit: the most entries; `nil` for no limit.
    ///   - minimumFreeSpace: how much must stay free on the volume.
    ///   - durability: the failures that an entry survives once its save has returned.
    ///   - writing: when a save writes.
    ///   - compression: how archives are compressed.
    ///   - encryption: whether the files are encrypted, and with which keys.
    ///   - dataProtection: when a device lets its programs read the files.
    ///   - isExcludedFromBackup: whether backups leave the cache out.
    ///   - followsOtherProcesses: whether hits in memory look for changes by other processes.
    ///   - publishesStatistics: whether other processes may see this cache's statistics.
    public init(
        layout: Layout = .automatic,
        byteLimit: ByteCount? = nil,
        countLimit: Int? = nil,
        minimumFreeSpace: ByteCount = .zero,
        durability: Durability = .process,
        writing: Writing = .through,
        compression: Compression = .automatic,
        encryption: Encryption = .none,
        dataProtection: DataProtection = .automatic,
        isExcludedFromBackup: Bool = false,
        followsOtherProcesses: Bool = false,
        publishesStatistics: Bool = false
    ) {
        self.layout = layout
        self.byteLimit = byteLimit
        self.countLimit = countLimit
        self.minimumFreeSpace = minimumFreeSpace
        self.durability = durability
        self.writing = writing
        self.compression = compression
        self.encryption = encryption
        self.dataProtection = dataProtection
        self.isExcludedFromBackup = isExcludedFromBackup
        self.followsOtherProcesses = followsOtherProcesses
        self.publishesStatistics = publishesStatistics
    }

    /// - Parameter name: the cache's, to which its keys are bound.
    func storeSettings(forCache name: String) -> StoreSettings {
        var settings = StoreSettings()
        settings.durability = durability.waitsForDevice ? .power : .process
        settings.byteLimit = byteLimit?.bytes
        settings.countLimit = countLimit.map { max(0, $0) }
        settings.compression = compression.kind
        settings.keys = encryption.provider?.keys.bound(toCache: name)
        settings.minimumFreeByteCount = minimumFreeSpace.bytes
        settings.followsOthers = followsOtherProcesses
        #if canImport(Darwin)
            settings.prepare = preparing(by: SystemFileAttributes())
        #endif
        return settings
    }
}

extension DiskSettings.Layout: RawRepresentable, CustomStringConvertible {
    /// `nil` if no layout has this name.
    public init?(rawValue: String) {
        guard let base = Base(rawValue: rawValue) else { return nil }
        self.init(base: base)
    }

    /// The layout's name: `automatic`, `packed` or `files`.
    public var rawValue: String { base.rawValue }
    /// The layout's name, the same as ``rawValue``.
    public var description: String { rawValue }
}

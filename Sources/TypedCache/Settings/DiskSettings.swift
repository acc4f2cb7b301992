import ArchiveStore

/// How much a cache may take on disk, and what its saves guarantee.
public struct DiskSettings: Sendable, Hashable {
    /// What a save that returned has survived.
    public enum Durability: Sendable, Hashable {
        /// The end of the process, however it comes.
        case process
        /// A failure of power as well: the entry's file and the directory that names it are on the device. A save waits
        /// for that, which takes milliseconds on many devices.
        case power
    }

    /// When a save writes.
    public enum Writing: Sendable, Hashable {
        /// Before it returns.
        case through
        /// Later, in the background, while no more than so many bytes of archives wait; a save that would exceed that
        /// waits itself. Fetches see what waits. What waits is lost with the process, unless ``Cache/flush()`` returned
        /// after it was saved.
        case behind(limit: ByteCount)
    }

    /// How entries are kept on disk.
    public enum Layout: String, Sendable, Hashable, CaseIterable {
        /// As the cache's directory has them. A new one is `packed`, unless the environment variable
        /// `TYPED_CACHE_LAYOUT` says `files`.
        case automatic
        /// One after another in a few files that are appended to: the faster one, and much the smaller one for many
        /// small values.
        case packed
        /// Each in a file of its own, which any zlib tool can inflate.
        case files
    }

    /// `.automatic` by default. Any other one than the cache's directory already has is refused with
    /// `.invalidDirectory`: entries are moved by exporting and importing them.
    public var layout: Layout
    /// The most bytes of entries on disk; `nil`: no limit.
    ///
    /// Counts of a packed cache its segments, with all that is in them; with files, the entries' files. Not counted are
    /// the index of a packed cache (up to 32 bytes for each entry, and as much again while it is written), the journal of
    /// one with files (32 to 128 bytes for each entry, or up to 64 KiB), and what a file's blocks take beyond its length.
    ///
    /// A packed cache never exceeds it, one with files by no more than one entry. An entry that is larger than that is
    /// refused.
    public var bytes: ByteCount?
    /// The most entries; `nil`: no limit.
    public var count: Int?
    /// How much must stay free on the volume: before a save takes more, other entries are given up, and if that is not
    /// enough the save fails with `.io`.
    public var minimumFreeSpace: ByteCount
    /// `.process` by default.
    public var durability: Durability
    /// `.through` by default.
    public var writing: Writing
    /// Whether hits in memory look whether another process has changed the entry, which takes about a microsecond
    /// where nothing has changed. Otherwise another process's changes are seen by the next fetch that reads the disk.
    public var followsOtherProcesses: Bool

    public init(
        layout: Layout = .automatic,
        bytes: ByteCount? = nil,
        count: Int? = nil,
        minimumFreeSpace: ByteCount = .bytes(0),
        durability: Durability = .process,
        writing: Writing = .through,
        followsOtherProcesses: Bool = false
    ) {
        self.layout = layout
        self.bytes = bytes
        self.count = count.map { max(0, $0) }
        self.minimumFreeSpace = minimumFreeSpace
        self.durability = durability
        self.writing = writing
        self.followsOtherProcesses = followsOtherProcesses
    }

    var storeSettings: StoreSettings {
        var settings = StoreSettings()
        settings.durability = durability == .power ? .power : .process
        settings.byteLimit = bytes?.bytes
        settings.countLimit = count
        settings.minimumFreeByteCount = minimumFreeSpace.bytes
        settings.followsOthers = followsOtherProcesses
        return settings
    }
}

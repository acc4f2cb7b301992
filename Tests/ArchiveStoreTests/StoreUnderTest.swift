import StoreTrials

@testable import ArchiveStore

/// A kind of store that the laws are checked with.
enum StoreUnderTest: CaseIterable {
    case reference
    case file
    /// All keys of a file store share three names.
    case collidingFile
    /// A file store whose saves are deferred.
    case behind
    /// As `behind`, with room for hardly anything.
    case narrowBehind
    /// A file store with limits that are never reached, so that it keeps a journal.
    case limitedFile
    case collidingLimitedFile

    private var settings: StoreSettings {
        var settings = StoreSettings()
        if self == .limitedFile || self == .collidingLimitedFile {
            settings.byteLimit = 1 << 30
            settings.countLimit = 1 << 20
            settings.minimumFreeByteCount = 1
        }
        return settings
    }

    /// Has `body` run with a function that opens one and the same place each time it is called.
    func withPlace(_ body: (_ open: () throws -> any ArchiveStore) throws -> Void) throws {
        switch self {
        case .reference:
            let store = ReferenceStore()
            try body { store }
        case .file, .limitedFile:
            try withTemporaryDirectory { path in
                try body { try FileStore(directory: path + "/cache", create: true, settings: settings) }
                try checkLedger(path + "/cache")
            }
        case .behind: try Self.withPlaceBehind(byteLimit: 1 << 20, body)
        case .narrowBehind: try Self.withPlaceBehind(byteLimit: 1_000, body)
        case .collidingFile, .collidingLimitedFile:
            try withTemporaryDirectory { path in
                try body {
                    try FileStore(directory: path + "/cache", create: true, settings: settings) { key in
                        EntryName(high: 0xab << 56, low: UInt64(key.bytes.reduce(0, ^) % 3))
                    }
                }
                try checkLedger(path + "/cache")
            }
        }
    }

    private static func withPlaceBehind(
        byteLimit: Int,
        _ body: (_ open: () throws -> any ArchiveStore) throws -> Void
    ) throws {
        try withTemporaryDirectory { path in
            var former: WriteBehindStore?
            try body {
                // What waits is the store's own until it is flushed.
                try former?.flush()
                let file = try FileStore(directory: path + "/cache", create: true)
                let store = WriteBehindStore(over: file, byteLimit: byteLimit)
                former = store
                return store
            }
            try former?.flush()
        }
    }
}

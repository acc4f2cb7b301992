import Foundation

@testable import ArchiveStore

extension ArchiveStore {
    /// Saves an archive that never expires.
    func save(_ archive: [UInt8], forKey key: String) throws(StoreError) {
        try save(archive, forKey: key, storedAt: .now, expiresAt: nil)
    }

    /// The keys of all entries that are sound.
    func keys() throws(StoreError) -> Set<String> {
        var keys: Set<String> = []
        try forEachEntry { entry in
            if case .success(let entry) = entry { keys.insert(entry.key) }
            return true
        }
        return keys
    }
}

extension StoreSettings {
    init(byteLimit: Int? = nil, countLimit: Int? = nil) {
        self.init()
        self.byteLimit = byteLimit
        self.countLimit = countLimit
    }

    /// Short segments, so that few entries fill several.
    static let shortSegments: StoreSettings = {
        var settings = StoreSettings()
        settings.leastSegmentByteCount = 1 << 17
        return settings
    }()
}

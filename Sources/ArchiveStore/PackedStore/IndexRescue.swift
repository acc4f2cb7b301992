import Synchronization

/// Rebuilds the parts of an index whose snapshot turns out to be damaged, from the segments' records.
///
/// The first call reads all records and keeps them: a part that was not loaded until now has not changed since.
final class IndexRescue: Sendable {
    private let folder: StoreFolder
    private let settings: StoreSettings
    private let hashing: @Sendable ([UInt8]) -> KeyDigest
    private let shared: PackedLog.Shared
    private let log = Mutex<PackedLog?>(nil)

    init(
        of folder: StoreFolder,
        settings: StoreSettings,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest,
        shared: PackedLog.Shared
    ) {
        self.folder = folder
        self.settings = settings
        self.hashing = hashing
        self.shared = shared
    }

    func table(part: Int) -> IndexTable {
        log.withLock { log in
            do throws(StoreError) {
                if let log { return table(part, of: log) }
                let opened = try PackedLog(in: folder, settings: settings, usesSnapshot: false, hashing: hashing)
                opened.forgetSegments()
                log = opened
                return table(part, of: opened)
            } catch {
                // A caller that misses an entry gets this error; the next call opens the log anew.
                shared.loadingFailure.withLock { $0 = error }
                shared.isIncomplete.store(true, ordering: .relaxed)
                shared.isBroken.store(true, ordering: .relaxed)
                return IndexTable()
            }
        }
    }

    private func table(_ part: Int, of log: PackedLog) -> IndexTable {
        var table = log.index.withPart(number: part) { $0 }
        // Segments may have been given up since.
        let floor = shared.floor.load(ordering: .relaxed)
        _ = table.removeAll { $0.place.segment < floor }
        return table
    }
}

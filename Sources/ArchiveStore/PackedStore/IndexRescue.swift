import Synchronization

/// Gives the parts of an index whose snapshot turns out to be damaged, from the segments' records.
///
/// All of them are read at the first call, and kept: a part that nobody has needed until now has not changed since.
final class IndexRescue: Sendable {
    private let folder: StoreFolder
    private let settings: StoreSettings
    private let hashing: @Sendable (StoreKey) -> UInt64
    private let shared: PackedLog.Shared
    private let log = Mutex<PackedLog?>(nil)

    init(
        of folder: StoreFolder,
        settings: StoreSettings,
        hashing: @escaping @Sendable (StoreKey) -> UInt64,
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
                if let log { return log.index.withPart(number: part) { $0 } }
                let opened = try PackedLog(in: folder, settings: settings, usesSnapshot: false, hashing: hashing)
                log = opened
                return opened.index.withPart(number: part) { $0 }
            } catch {
                // The next call opens the log anew, and tells what is wrong.
                shared.isBroken.store(true, ordering: .relaxed)
                return IndexTable()
            }
        }
    }
}

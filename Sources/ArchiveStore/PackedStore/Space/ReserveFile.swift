import Foundation

/// The reserve: a file of unused blocks, kept where little of a volume is free and no entry may be evicted.
///
/// On a full volume, the room of removed entries can be had only after the rest of their segment was rewritten,
/// which takes room first. The reserve is changed only while the log is locked, so that no process takes away the
/// reserve that another one made.
struct ReserveFile: Sendable {
    static let name = "reserve"

    private let root: Directory
    private let path: String
    private let directoryPath: String

    init(in folder: StoreFolder) {
        root = folder.root
        directoryPath = folder.path
        path = folder.path + "/" + Self.name
    }

    /// How long the reserve is, as far as it has blocks; 0 if there is none.
    func byteCount() throws(StoreError) -> Int {
        try status().map { min($0.byteCount, $0.allocatedByteCount) } ?? 0
    }

    /// How long the reserve is to be, which its file tells to all processes; 0 if there is none.
    func goal() throws(StoreError) -> Int { try status()?.byteCount ?? 0 }

    private func status() throws(StoreError) -> (byteCount: Int, allocatedByteCount: Int)? {
        try attempt("looking for the reserve", path) { () throws(SystemError) in
            guard let status = try root.status(Self.name), status.isRegular else { return nil }
            // No store makes a longer one.
            let most = 2 * SegmentLog.largestSegmentByteCount
            return (max(0, min(status.byteCount, most)), min(status.allocatedByteCount, most))
        }
    }

    /// The bytes of the volume that are free.
    func freeByteCount() throws(StoreError) -> Int {
        try attempt("looking for free space", directoryPath) { () throws(SystemError) in try root.freeByteCount() }
    }

    /// The free bytes of the volume, and the bytes of the reserve.
    func freeByteCountWithReserve() throws(StoreError) -> Int { try freeByteCount() + byteCount() }

    /// Makes the reserve, or a shorter one where there is no room for all of it.
    func make(_ byteCount: Int) throws(StoreError) {
        let goal = max(try goal(), byteCount)
        try remove()
        var byteCount = byteCount
        while true {
            do throws(SystemError) {
                return try write(byteCount, goal: goal)
            } catch {
                guard error.isFull, byteCount > 0 else {
                    throw StoreError(error, path: path, action: "making the reserve")
                }
                // In small steps: a block that is missing costs a block, mostly.
                byteCount = max(0, byteCount - max(byteCount / 32, Segment.blockByteCount))
            }
        }
    }

    /// Gives back the blocks of the reserve. Its file stays and says how long it is to be again.
    func take() throws(StoreError) {
        let goal = try goal()
        try remove()
        bestEffort("without its file, the reserve is made as long as is needed next") { () throws(SystemError) in
            try write(0, goal: goal)
        }
    }

    /// Gives back the blocks after `rest`; returns whether the reserve is a file.
    func shorten(to rest: Int) throws(StoreError) -> Bool {
        try attempt("taking the reserve", path) { () throws(SystemError) in
            let file = try root.fileForUpdate(Self.name)
            let status = try file.status()
            guard status.isRegular else { return false }
            try file.truncate(to: rest)
            // The file keeps its length, which is the length to restore. It has no blocks there.
            bestEffort("a shorter file is a shorter reserve next") { () throws(SystemError) in
                try file.truncate(to: status.byteCount)
            }
            return true
        }
    }

    func remove() throws(StoreError) {
        try attempt("taking the reserve", path) { () throws(SystemError) in _ = try root.remove(Self.name) }
    }

    private func write(_ byteCount: Int, goal: Int) throws(SystemError) {
        let file = try root.makeFile(Self.name)
        do throws(SystemError) {
            if byteCount > 0 { try file.allocate(byteCount) }
            if goal > byteCount { try file.truncate(to: goal) }
        } catch {
            try root.remove(Self.name)
            throw error
        }
    }
}

import Foundation
import Sealing

/// The file of the index's snapshot, for those parts of a log that only open or remove it.
struct SnapshotFile: Sendable {
    private let root: Directory
    private let path: String
    private let isLimited: Bool
    /// The keys that it is encrypted with; `nil`: it is not encrypted.
    private let keys: SealingKeys?

    init(in folder: StoreFolder, isLimited: Bool, keys: SealingKeys?) {
        self.keys = keys
        root = folder.root
        path = folder.path + "/" + IndexSnapshot.fileName
        self.isLimited = isLimited
    }

    /// The snapshot; `nil` if there is none that can be used.
    func open() throws(StoreError) -> IndexSnapshot? {
        try attempt("reading the index", path) { () throws(SystemError) in try IndexSnapshot(in: root, keys) }
    }

    /// Whether there is one, usable or not.
    func exists() throws(StoreError) -> Bool { try status() != nil }

    func remove() throws(StoreError) {
        try attempt("removing the index", path) { () throws(SystemError) in
            _ = try root.remove(IndexSnapshot.fileName)
        }
    }

    /// How many bytes it takes of the volume; 0 if there is none.
    func allocatedByteCount() throws(StoreError) -> Int { try status()?.allocatedByteCount ?? 0 }

    private func status() throws(StoreError) -> FileStatus? {
        try attempt("looking for the index", path) { () throws(SystemError) in
            try root.status(IndexSnapshot.fileName)
        }
    }

    /// Puts a draft in its place.
    func replace(with draft: String, of session: DraftSession) throws(StoreError) {
        try attempt("writing the index", path) { () throws(SystemError) in
            try session.directory.rename(draft, to: IndexSnapshot.fileName, in: root)
        }
    }

    /// The error of a snapshot that must not be put in its place: it lacks entries.
    func incomplete() -> StoreError {
        StoreError(SystemError(number: ESTALE), path: path, action: "writing the index")
    }

    /// Removes a snapshot that no process begins with any longer: the segment of its position was dropped, or its head
    /// is damaged. In stores without limits, entries need its room.
    func removeIfUseless(firstLiveSegment: UInt32) throws(StoreError) {
        if isLimited { return }
        if let snapshot = try open(), snapshot.position.segment >= firstLiveSegment { return }
        try remove()
    }
}

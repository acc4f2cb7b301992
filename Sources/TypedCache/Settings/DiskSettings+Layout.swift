import ArchiveStore
import Foundation

extension DiskSettings.Layout {
    /// The kind of store for the directory at `path`: the kind of this layout; if that is `.automatic`, the kind that
    /// is there, or the one of new caches.
    func kind(at path: String) -> StoreKind {
        switch self {
        case .packed: .packed
        case .files: .file
        default: StoreKind(directory: path) ?? Self.kindOfNew
        }
    }

    private static var kindOfNew: StoreKind {
        let layout = ProcessInfo.processInfo.environment["TYPED_CACHE_LAYOUT"].flatMap(Self.init(rawValue:))
        return layout == .files ? .file : .packed
    }
}

import BenchmarkKit
import Foundation
@_spi(Measuring) import TypedCache

/// The cache's own store, given bytes that were compressed before; it gives them back compressed.
final class StreamContestant: DiskContestant {
    private let store: MeasuredStore

    init(_ folder: URL, disk: DiskSettings) throws {
        store = try MeasuredStore(
            directory: folder.appending(path: "store", directoryHint: .isDirectory),
            disk: disk
        )
    }

    func save(_ item: DiskItem, forKey key: String) throws {
        try store.save(stream: item.stream, archiveByteCount: item.archiveByteCount, forKey: key)
    }

    func fetch(forKey key: String) throws -> Bool {
        let stream = try store.fetch(forKey: key)
        blackHole(stream)
        return stream != nil
    }

    func remove(forKey key: String) throws { try store.remove(forKey: key) }
}

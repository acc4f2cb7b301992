import Foundation
import Testing

@_spi(Measuring) @testable import TypedCache

/// What is measured is what caches use.
struct MeasuredStoreTests {
    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func keepsStreamsAsACacheDoes(layout: DiskSettings.Layout) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "measured-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try MeasuredStore(directory: folder, disk: DiskSettings(layout: layout))
        try store.save(stream: [1, 2, 3], archiveByteCount: 9, forKey: "a")
        try store.save(stream: [4], archiveByteCount: 9, forKey: "b")
        #expect(try store.fetch(forKey: "a") == [1, 2, 3])
        #expect(try store.statistics()?.entryCount == (layout == .packed ? 2 : nil))
        try store.remove(forKey: "a")
        #expect(try store.fetch(forKey: "a") == nil)
        #expect(try store.fetch(forKey: "b") == [4])
    }
}

import BenchmarkKit
import Foundation
import KeyedArchive
import TypedCache

/// Compressing archives of text.
///
/// The package's compression is not public: its time is that of saving, less that of archiving the same value and
/// writing the same file by hand. Checksum and locking are in it.
struct CompressSuite: Suite {
    static let name = "compress"
    static let summary = "compressing archives, beside zlib as it is"

    func run(_ context: Context) throws {
        for (size, bytes) in [("0.3 KiB", 307), ("1 KiB", 1_024), ("10 KiB", 10_240), ("100 KiB", 102_400)] {
            try compress(context, size: size, bytes: bytes)
        }
    }

    private func compress(_ context: Context, size: String, bytes: Int) throws {
        let document = try Document.archived(bytes: bytes)
        let archive = [UInt8](try KeyedArchiver.archivedData(encoding: document))
        let folder = try context.makeFolder("compress", inMemory: true)
        // Its file can be read here. Both layouts compress alike until a packed store has made its dictionary.
        let disk = DiskSettings(layout: .files)
        let cache = try Cache<Document>(
            name: "documents",
            directory: folder,
            settings: CacheSettings(memory: .none, disk: disk)
        )
        try cache.save(object: document)
        let entry = try StoredEntry.only(in: folder.appending(path: cache.name))
        let draft = folder.appending(path: "draft").path
        let path = folder.appending(path: "entry").path

        var subjects = [
            Subject.difference(
                "Cache, besides archiving and writing",
                isOurs: true,
                bytes: StoredEntry.zlibLength(of: entry),
                of: { _ in try cache.save(object: document) },
                besides: { _ in
                    blackHole(try KeyedArchiver.archivedData(encoding: document))
                    try HandFileStore.write(entry, to: path, draft: draft)
                }
            )
        ]
        for level: Int32 in [1, 6] {
            let size = try ZlibStreams.compress(archive, level: level).count
            subjects.append(
                Subject("compress2, level \(level)", bytes: size) { _ in
                    try ZlibStreams.compress(archive, level: level)
                }
            )
        }
        subjects.append(
            Subject("no compression, a copy", bytes: archive.count) { _ in archive.withUnsafeBytes(Array.init) }
        )
        try context.compare(work: "compress an archive", parameters: ["size": size], subjects: subjects)
    }
}

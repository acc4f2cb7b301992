import BenchmarkKit
import Foundation

/// What is on disk. Nothing is kept in memory but what the system itself keeps of files.
///
/// What frees many files comes late: some file systems make new ones slowly for minutes after that. What waits
/// for the disk comes last, for it slows all else down meanwhile.
struct DiskSuite: Suite {
    static let name = "disk"
    static let summary = "saving, fetching, removing and opening on disk, beside files, SQLite and LMDB"

    private static let sizes = [("256 B", 256), ("1 KiB", 1 << 10), ("10 KiB", 10 << 10), ("100 KiB", 100 << 10)]

    func run(_ context: Context) throws {
        let kinds = DiskKind.wholeJobs + DiskKind.bytesOnly.filter { !$0.waitsForDisk }
        let benches = try Self.sizes.map { name, byteCount in
            try DiskBench(context, kinds, textSize: name, textByteCount: byteCount)
        }
        for (name, byteCount) in Self.sizes {
            let kinds = kinds + DiskKind.otherSettings
            try DiskBench(context, kinds, textSize: name, textByteCount: byteCount).compareSaves()
        }
        for bench in benches { try bench.compareFetches() }
        let openings = try DiskOpeningBench(context, kinds, textByteCount: 1 << 10)
        for entryCount in context.isQuick ? [1_000] : [1_000, 10_000, 100_000] {
            try openings.compare(entryCount: entryCount)
        }
        for bench in benches { try bench.compareOverwrites() }
        for bench in benches { try bench.compareRemovals() }

        let waiting = [DiskKind.durable] + DiskKind.bytesOnly.filter(\.waitsForDisk)
        for (name, byteCount) in Self.sizes {
            let bench = try DiskBench(context, waiting, textSize: name, textByteCount: byteCount)
            try bench.compareSaves()
            try bench.compareOverwrites()
        }
    }
}

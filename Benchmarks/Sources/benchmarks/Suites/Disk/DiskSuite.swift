import BenchmarkKit
import Foundation

/// Stores on disk. Nothing is kept in memory except in the system's own cache of files.
///
/// Work that frees many files comes late: some file systems make new ones slowly for minutes after that. Work that
/// waits for the disk comes last, for it slows all else down meanwhile.
struct DiskSuite: Suite {
    static let name = "disk"
    static let summary = "saving, fetching, removing and opening on disk, beside files, SQLite and LMDB"

    private static let sizes = [("256 B", 256), ("1 KiB", 1 << 10), ("10 KiB", 10 << 10), ("100 KiB", 100 << 10)]

    func run(_ context: Context) throws {
        // Bytes apart, so that stores are compared with ours as a store.
        let groups = [DiskKind.bytesOnly, DiskKind.wholeJobs]
        for kinds in [DiskKind.bytesOnly, DiskKind.wholeJobs + DiskKind.otherSettings] {
            for bench in try Self.benches(context, kinds) { try bench.compareSaves() }
        }
        let benches = try groups.map { try Self.benches(context, $0) }
        for bench in benches.joined() { try bench.compareFetches() }
        for entryCount in context.isQuick ? [1_000] : [1_000, 10_000, 100_000] {
            for kinds in groups {
                try DiskOpeningBench(context, kinds, textByteCount: 1 << 10).compare(entryCount: entryCount)
            }
        }
        for bench in benches.joined() { try bench.compareOverwrites() }
        for bench in benches.joined() { try bench.compareRemovals() }

        try ConcurrentSaversBench(context, textByteCount: 1 << 10).compare()
        for kinds in [DiskKind.durableBytes, DiskKind.durableCaches] {
            for bench in try Self.benches(context, kinds) {
                try bench.compareSaves()
                try bench.compareOverwrites()
            }
        }
    }

    private static func benches(_ context: Context, _ kinds: [DiskKind]) throws -> [DiskBench] {
        try sizes.map { name, byteCount in
            try DiskBench(context, kinds, textSize: name, textByteCount: byteCount)
        }
    }
}

import BenchmarkKit

/// Stores on disk. Nothing is kept in memory except in the system's own cache of files.
///
/// Work that frees many files comes late: some file systems make new ones slowly for minutes after that. Work that
/// waits for the disk comes last, for it slows all other work down in the meantime.
struct DiskSuite: Suite {
    static let name = "disk"
    static let summary = "saving, fetching, removing and opening on disk, beside files, SQLite and LMDB"

    func run(_ context: Context) throws {
        // Bytes apart, so that stores are compared with ours as a store.
        for kinds in [DiskKind.bytesOnly, DiskKind.wholeJobs + DiskKind.otherSettings] {
            for bench in try Self.benches(context, kinds) { try bench.compareSaves() }
        }
        let groups = [DiskKind.bytesOnly, DiskKind.wholeJobs]
        let benches = try groups.flatMap { try Self.benches(context, $0) }
        for bench in benches { try bench.compareFetches() }
        for entryCount in context.isQuick ? [1_000] : [1_000, 10_000, 100_000] {
            for kinds in groups {
                try DiskBench(context, kinds, text: .oneKibibyte).compareOpening(entryCount: entryCount)
            }
        }
        for bench in benches { try bench.compareOverwrites() }
        for bench in benches { try bench.compareRemovals() }

        try ConcurrentSaversBench(context).compare()
        for kinds in [DiskKind.durableBytes, DiskKind.durableCaches] {
            for bench in try Self.benches(context, kinds) {
                try bench.compareSaves()
                try bench.compareOverwrites()
            }
        }
    }

    private static func benches(_ context: Context, _ kinds: [DiskKind]) throws -> [DiskBench] {
        try DiskBench.TextSize.all.map { try DiskBench(context, kinds, text: $0) }
    }
}

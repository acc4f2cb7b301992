import BenchmarkKit
import Foundation

/// Times, memory and space on disk as entries become many.
struct ScaleSuite: Suite {
    static let name = "scale"
    static let summary = "times, memory and disk space at a thousand to a million entries"

    /// More files than that take the file system minutes to make, and to forget.
    private static let mostFiles = 100_000

    func run(_ context: Context) throws {
        try CitiesRun(context).run()
        try PackedOpeningRun(context, entryCount: context.isQuick ? 100_000 : 1_000_000).run()

        let counts = context.isQuick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]
        let items = try DiskItem.make(textByteCount: 256)
        let stores = DiskKind.bytesOnly.filter { !$0.isFiles }
        for kind in DiskKind.wholeJobs.filter(\.isOurs) + stores {
            for count in counts where !kind.isFiles || count <= Self.mostFiles {
                // Larger ones would take longer still.
                guard try ScaleRun(context, kind, items, entryCount: count).run() else { break }
            }
        }
        DiskKind.recordMissing(work: "save an entry", parameters: [:], in: context)
    }
}

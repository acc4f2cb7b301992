import BenchmarkKit
import StoreMeasuring

/// The cost of encryption: stores and caches on disk, encrypted and not.
struct EncryptionSuite: Suite {
    static let name = "encryption"
    static let summary = "saving, fetching and opening on disk, encrypted and not"

    func run(_ context: Context) throws {
        guard MeasuredStore.canBeEncrypted else {
            return context.unavailable(
                work: "save an entry's bytes",
                parameters: [:],
                subject: "packed store, encrypted",
                reason: "built without the trait Encryption; install libssl-dev"
            )
        }
        let groups = [DiskKind.encryptedBytes, DiskKind.encryptedCaches]
        let benches = try groups.flatMap { kinds in
            try DiskBench.TextSize.all.map { try DiskBench(context, kinds, text: $0) }
        }
        for bench in benches { try bench.compareSaves() }
        for bench in benches { try bench.compareFetches() }
        let packed = DiskKind.encryptedBytes.filter { !$0.isFiles }
        let counts =
            switch context.extent {
            case .full: [1_000, 1_000_000]
            case .quick: [1_000, 100_000]
            case .once: [1_000]
            }
        for count in counts {
            try DiskBench(context, packed, text: .oneKibibyte).compareOpening(entryCount: count)
        }
    }
}

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
        let counts =
            switch context.extent {
            case .full: [1_000, 10_000, 100_000, 1_000_000]
            case .quick: [1_000, 10_000]
            case .once: [1_000]
            }
        try PackedOpeningRun(context, entryCount: context.isQuick ? 10 * (counts.last ?? 0) : 1_000_000).run()

        let items = try DiskItem.make(textByteCount: 256)
        let stores = DiskKind.bytesOnly.filter { !$0.isFiles }
        for kind in DiskKind.wholeJobs.filter(\.isOurs) + stores {
            for count in counts where !kind.isFiles || count <= Self.mostFiles {
                // Larger ones would take longer still.
                guard try ScaleRun(kind, items: items, entryCount: count, in: context).run() else { break }
            }
        }
        DiskKind.recordMissing(work: "save an entry", parameters: [:], in: context)
    }
}

/// One kind of store at one number of entries.
struct ScaleRun {
    /// A run that takes longer is stopped.
    private static let timeLimit = Duration.seconds(600)
    private static let sampleCount = 10

    private let context: Context
    private let kind: DiskKind
    private let items: [DiskItem]
    private let entryCount: Int

    init(_ kind: DiskKind, items: [DiskItem], entryCount: Int, in context: Context) {
        self.context = context
        self.kind = kind
        self.items = items
        self.entryCount = entryCount
    }

    /// - Returns: whether there was time enough.
    func run() throws -> Bool {
        let folder = try context.makeFolder("scale")
        defer {
            context.progress("\(entryCount) entries: removing")
            removeNow(folder)
        }
        guard try measureFilling(folder) else { return false }
        try measureFetching(folder)
        let usage = try DiskUsage(of: folder)
        value("bytes on disk, by length", [Self.mebibytes(usage.apparentBytes)], unit: "MiB")
        value("bytes on disk, by blocks", [Self.mebibytes(usage.allocatedBytes)], unit: "MiB")
        return true
    }

    private func measureFilling(_ folder: URL) throws -> Bool {
        // The keys must not count as the store's memory.
        let keys = DiskItem.keys
        let clock = ContinuousClock()
        let start = clock.now
        let memory = ProcessMemory.residentByteCount
        let contestant = try kind.open(folder)
        var samples: [Double] = []
        for part in 0..<Self.sampleCount {
            context.progress("\(entryCount) entries: \(kind.name) has saved \(part * 10) %")
            let indices = entryCount * part / Self.sampleCount..<entryCount * (part + 1) / Self.sampleCount
            let partStart = clock.now
            for index in indices {
                try contestant.save(items[index % items.count], forKey: keys[index])
                if index.isMultiple(of: 1_000), clock.now - start > Self.timeLimit {
                    return recordTimeout(saved: index + 1)
                }
            }
            samples.append((clock.now - partStart) / .microseconds(1) / Double(indices.count))
        }
        value("save an entry", samples, unit: "µs")
        if let memory, let now = ProcessMemory.residentByteCount {
            value("growth of resident memory", [Self.mebibytes(now - memory)], unit: "MiB")
        }
        return true
    }

    private func measureFetching(_ folder: URL) throws {
        let clock = ContinuousClock()
        let openings = try (0..<Self.sampleCount).map { index in
            try clock.measure { try kind.open(folder).fetchExisting(index, of: entryCount) } / .milliseconds(1)
        }
        value("open and fetch an entry", openings, unit: "ms")

        let contestant = try kind.open(folder)
        let fetches = 1_000
        let samples = try (0..<Self.sampleCount).map { sample in
            let duration = try clock.measure {
                for index in 0..<fetches { try contestant.fetchExisting(sample * fetches + index, of: entryCount) }
            }
            return duration / .microseconds(1) / Double(fetches)
        }
        value("fetch an entry", samples, unit: "µs")
    }

    private func recordTimeout(saved: Int) -> Bool {
        context.unavailable(
            work: "save an entry",
            parameters: parameters,
            subject: kind.name,
            reason: "stopped after 10 minutes, at \(saved) entries"
        )
        return false
    }

    private var parameters: [String: String] { ["entries": "\(entryCount)"] }

    private func value(_ work: String, _ samples: [Double], unit: String) {
        context.value(
            work: work,
            parameters: parameters,
            subject: kind.name,
            isOurs: kind.isOurs,
            unit: unit,
            samples: samples
        )
    }

    /// Files that are left, if any, go with the folders of the whole run.
    private func removeNow(_ folder: URL) {
        do {
            try FolderRemoval.remove(folder)
        } catch {
            context.progress("\(error)")
        }
    }

    private static func mebibytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }
}

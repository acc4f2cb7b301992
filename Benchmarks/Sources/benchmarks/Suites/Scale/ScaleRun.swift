import BenchmarkKit
import Foundation

/// One kind of store at one number of entries.
struct ScaleRun {
    /// After this, a run is given up.
    private static let timeLimit = Duration.seconds(600)
    private static let sampleCount = 10

    private let context: Context
    private let kind: DiskKind
    private let items: [DiskItem]
    private let entryCount: Int

    init(_ context: Context, _ kind: DiskKind, _ items: [DiskItem], entryCount: Int) {
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
        value("bytes on disk, by length", "MiB", [Self.mebibytes(usage.apparentBytes)])
        value("bytes on disk, by blocks", "MiB", [Self.mebibytes(usage.allocatedBytes)])
        return true
    }

    private func measureFilling(_ folder: URL) throws -> Bool {
        // The keys must not count as the store's memory.
        let keys = DiskKeys.all
        let clock = ContinuousClock()
        let start = clock.now
        let memory = ResidentMemory.byteCount
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
        value("save an entry", "µs", samples)
        if let memory, let now = ResidentMemory.byteCount {
            value("growth of resident memory", "MiB", [Self.mebibytes(now - memory)])
        }
        return true
    }

    private func measureFetching(_ folder: URL) throws {
        let clock = ContinuousClock()
        let openings = try (0..<Self.sampleCount).map { index in
            try clock.measure { try kind.open(folder).fetchExisting(index, of: entryCount) } / .milliseconds(1)
        }
        value("open and fetch an entry", "ms", openings)

        let contestant = try kind.open(folder)
        let fetches = 1_000
        let samples = try (0..<Self.sampleCount).map { sample in
            let duration = try clock.measure {
                for index in 0..<fetches { try contestant.fetchExisting(sample * fetches + index, of: entryCount) }
            }
            return duration / .microseconds(1) / Double(fetches)
        }
        value("fetch an entry", "µs", samples)
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

    private func value(_ work: String, _ unit: String, _ samples: [Double]) {
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

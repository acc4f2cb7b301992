import BenchmarkKit
import Foundation
@_spi(Measuring) import TypedCache

/// A packed store of many entries of 1 KiB: how soon it can be used, and how much space its index takes.
struct PackedOpeningRun {
    private static let subject = "packed store"

    private let context: Context
    private let entryCount: Int
    private let rounds = 5

    init(_ context: Context, entryCount: Int) {
        self.context = context
        self.entryCount = entryCount
    }

    func run() throws {
        let folder = try context.makeFolder("packed")
        context.progress("\(entryCount) entries of 1 KiB: saving")
        try fill(folder)
        context.progress("\(entryCount) entries of 1 KiB: opening")
        try measureOpening(folder, work: "open, from a snapshot")
        try measureMemory(folder)
        let index = folder.appending(path: Self.indexName)
        value("size of the snapshot", "MiB", [Double(try DiskUsage(of: index).apparentBytes) / Double(1 << 20)])
        try measureOpening(folder, work: "open, without a snapshot") {
            try FileManager.default.removeItem(at: index)
        }
        try FolderRemoval.remove(folder)
    }

    /// As docs/format.md names it.
    private static let indexName = "index"

    private func open(_ folder: URL) throws -> MeasuredStore {
        try MeasuredStore(directory: folder, disk: DiskSettings(layout: .packed))
    }

    /// Saves the entries and closes the store, which leaves a snapshot.
    private func fill(_ folder: URL) throws {
        let items = try DiskItem.make(textByteCount: 1 << 10)
        let store = try open(folder)
        for index in 0..<entryCount {
            let item = items[index % items.count]
            try store.save(
                stream: item.stream,
                archiveByteCount: item.archiveByteCount,
                forKey: DiskKeys.all[index]
            )
        }
    }

    /// - Parameter prepare: called before each time.
    private func measureOpening(_ folder: URL, work: String, _ prepare: () throws -> Void = {}) throws {
        var opened: [Double] = []
        var fetched: [Double] = []
        var loaded: [Double] = []
        let clock = ContinuousClock()
        for round in 0..<rounds {
            try prepare()
            let key = DiskKeys.all[round * 7_919 % entryCount]
            let start = clock.now
            let store = try open(folder)
            opened.append((clock.now - start) / .milliseconds(1))
            guard try store.fetch(forKey: key) != nil else { throw BenchmarkError("\(key) is not there") }
            fetched.append((clock.now - start) / .milliseconds(1))
            guard try store.statistics()?.entryCount == entryCount else {
                throw BenchmarkError("entries are missing")
            }
            loaded.append((clock.now - start) / .milliseconds(1))
        }
        value(work, "ms", opened)
        value("\(work), until an entry is fetched", "ms", fetched)
        value("\(work), until all of the index is in memory", "ms", loaded)
    }

    private func measureMemory(_ folder: URL) throws {
        AllocatedMemory.trim()
        let before = (AllocatedMemory.byteCount, ResidentMemory.byteCount)
        let store = try open(folder)
        guard try store.statistics()?.entryCount == entryCount else { throw BenchmarkError("entries are missing") }
        AllocatedMemory.trim()
        let after = (AllocatedMemory.byteCount, ResidentMemory.byteCount)
        withExtendedLifetime(store) {}
        growth("memory of an open store, allocated", before.0, after.0)
        growth("memory of an open store, resident", before.1, after.1)
    }

    private func growth(_ work: String, _ before: Int?, _ after: Int?) {
        guard let before, let after else { return }
        value(work, "MB", [Double(after - before) / 1e6])
    }

    private func value(_ work: String, _ unit: String, _ samples: [Double]) {
        context.value(
            work: work,
            parameters: ["entries": "\(entryCount)"],
            subject: Self.subject,
            isOurs: true,
            unit: unit,
            samples: samples
        )
    }
}

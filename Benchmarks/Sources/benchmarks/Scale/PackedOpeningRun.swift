import BenchmarkKit
import Foundation
import StoreMeasuring

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
        let snapshot = try DiskUsage(of: index).apparentBytes
        value("size of the snapshot", [Double(snapshot) / Double(1 << 20)], unit: "MiB")
        try measureOpening(folder, work: "open, without a snapshot") {
            try FileManager.default.removeItem(at: index)
        }
        try FolderRemoval.remove(folder)
    }

    /// As docs/format.md names it.
    private static let indexName = "index"

    private func open(_ folder: URL) throws -> MeasuredStore {
        try MeasuredStore(directory: folder, layout: .packed)
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
                forKey: DiskItem.keys[index]
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
            let key = DiskItem.keys[round * 7_919 % entryCount]
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
        value(work, opened, unit: "ms")
        value("\(work), until an entry is fetched", fetched, unit: "ms")
        value("\(work), until all of the index is in memory", loaded, unit: "ms")
    }

    private func measureMemory(_ folder: URL) throws {
        ProcessMemory.trim()
        let allocated = ProcessMemory.allocatedByteCount
        let resident = ProcessMemory.residentByteCount
        let store = try open(folder)
        guard try store.statistics()?.entryCount == entryCount else { throw BenchmarkError("entries are missing") }
        ProcessMemory.trim()
        let (allocatedAfter, residentAfter) = (ProcessMemory.allocatedByteCount, ProcessMemory.residentByteCount)
        withExtendedLifetime(store) {}
        growth("memory of an open store, allocated", from: allocated, to: allocatedAfter)
        growth("memory of an open store, resident", from: resident, to: residentAfter)
    }

    private func growth(_ work: String, from before: Int?, to after: Int?) {
        guard let before, let after else { return }
        value(work, [Double(after - before) / 1e6], unit: "MB")
    }

    private func value(_ work: String, _ samples: [Double], unit: String) {
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

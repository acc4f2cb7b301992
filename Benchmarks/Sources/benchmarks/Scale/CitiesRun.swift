import BenchmarkKit
import Foundation
import TypedCache

/// The disk space of small records of a real model, in both layouts and in SQLite.
struct CitiesRun {
    private let context: Context
    private let cities: [City]
    private let parameters: [String: String]

    init(_ context: Context) throws {
        self.context = context
        cities = try City.recorded()
        parameters = ["cities": "\(cities.count)"]
    }

    func run() throws {
        context.progress("\(cities.count) cities")
        let packed = try measure("Cache, packed", .packed).usage
        let (files, filesFolder) = try measure("Cache, files", .files)
        recordRatio(of: packed, to: files, "a cache of files")
        #if SQLITE
            for hasRowid in [true, false] {
                let folder = try context.makeFolder("cities")
                try fillSQLite(folder, hasRowid: hasRowid, from: filesFolder)
                let sqlite = try DiskUsage(of: folder)
                let name = "SQLite\(hasRowid ? "" : " without rowid")"
                record(sqlite, of: "\(name), the streams of files", isOurs: false)
                recordRatio(of: packed, to: sqlite, name)
            }
        #endif
        try FolderRemoval.remove(filesFolder)
        DiskKind.recordMissing(work: "disk space of cities", parameters: parameters, in: context)
    }

    private func measure(
        _ subject: String,
        _ layout: DiskSettings.Layout
    ) throws -> (usage: DiskUsage, folder: URL) {
        let folder = try context.makeFolder("cities")
        // Closed before it is looked at.
        do {
            let disk = DiskSettings(layout: layout)
            let cache = try Cache<City>(
                name: "cities",
                directory: folder,
                settings: CacheSettings(memory: .none, disk: disk)
            )
            for city in cities { try cache.save(city, forKey: city.geonameid) }
        }
        let usage = try DiskUsage(of: folder)
        record(usage, of: subject, isOurs: true)
        return (usage, folder)
    }

    private func record(_ usage: DiskUsage, of subject: String, isOurs: Bool) {
        for (work, bytes) in [("by length", usage.apparentBytes), ("by blocks", usage.allocatedBytes)] {
            context.value(
                work: "disk space of cities, \(work)",
                parameters: parameters,
                subject: subject,
                isOurs: isOurs,
                unit: "bytes",
                samples: [Double(bytes)]
            )
        }
    }

    private func recordRatio(of packed: DiskUsage, to other: DiskUsage, _ name: String) {
        for (subject, ratio) in [
            ("by blocks", Double(packed.allocatedBytes) / Double(other.allocatedBytes)),
            ("by length", Double(packed.apparentBytes) / Double(other.apparentBytes)),
        ] {
            context.value(
                work: "bytes of a packed cache, to those of \(name)",
                subject: subject,
                isOurs: true,
                unit: "×",
                samples: [ratio]
            )
        }
    }

    #if SQLITE
        /// Puts the entries of a cache of files into one table, in one transaction; closes it after that, so that no
        /// log is left.
        private func fillSQLite(_ folder: URL, hasRowid: Bool, from files: URL) throws {
            let store = try SQLiteStore(folder, synchronous: .off, hasRowid: hasRowid)
            try store.together {
                try StoredEntry.forEach(in: files) { entry in
                    try store.save(StoredEntry.stream(of: entry), forKey: StoredEntry.key(of: entry))
                }
            }
        }
    #endif
}

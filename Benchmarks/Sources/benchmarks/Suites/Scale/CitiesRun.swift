import BenchmarkKit
import Foundation
import TypedCache

/// The disk space of small records of a real model, in both layouts and in SQLite.
struct CitiesRun {
    private let context: Context

    init(_ context: Context) { self.context = context }

    func run() throws {
        let cities = try CityRecords.all()
        let parameters = ["cities": "\(cities.count)"]
        context.progress("\(cities.count) cities")
        let packed = try usage("Cache, packed", .packed, cities, parameters).usage
        let (files, filesFolder) = try usage("Cache, files", .files, cities, parameters)

        func ratio(_ subject: String, _ work: String, _ part: Int, _ whole: Int) {
            let work = "bytes of a packed cache, to \(work)"
            let samples = [Double(part) / Double(whole)]
            context.value(
                work: work,
                parameters: [:],
                subject: subject,
                isOurs: true,
                unit: "×",
                samples: samples
            )
        }
        ratio("by blocks", "those of a cache of files", packed.allocatedBytes, files.allocatedBytes)
        ratio("by length", "those of a cache of files", packed.apparentBytes, files.apparentBytes)
        #if SQLITE
            for hasRowid in [true, false] {
                let folder = try context.makeFolder("cities")
                try fillSQLite(folder, hasRowid: hasRowid, from: filesFolder)
                let sqlite = try DiskUsage(of: folder)
                let name = "SQLite\(hasRowid ? "" : " without rowid")"
                record("\(name), the streams of files", sqlite, isOurs: false, parameters)
                ratio("by blocks", "those of \(name)", packed.allocatedBytes, sqlite.allocatedBytes)
                ratio("by length", "those of \(name)", packed.apparentBytes, sqlite.apparentBytes)
            }
        #endif
        try FolderRemoval.remove(filesFolder)
        DiskKind.recordMissing(work: "disk space of cities", parameters: parameters, in: context)
    }

    private func usage(
        _ subject: String,
        _ layout: DiskSettings.Layout,
        _ cities: [City],
        _ parameters: [String: String]
    ) throws -> (usage: DiskUsage, folder: URL) {
        let folder = try context.makeFolder("cities")
        // Closed before it is looked at.
        do {
            let disk = DiskSettings(layout: layout)
            let cache = try Cache<City>(name: "cities", directory: folder, memory: .none, disk: disk)
            for city in cities { try cache.save(city, forKey: city.geonameid) }
        }
        let usage = try DiskUsage(of: folder)
        record(subject, usage, isOurs: true, parameters)
        return (usage, folder)
    }

    private func record(_ subject: String, _ usage: DiskUsage, isOurs: Bool, _ parameters: [String: String]) {
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

/// The cities of `TYPED_CACHE_CITIES`, or those of the examples.
enum CityRecords {
    /// One a line.
    static var file: URL {
        if let path = ProcessInfo.processInfo.environment["TYPED_CACHE_CITIES"] { return URL(filePath: path) }
        return BenchmarksFolder.url.appending(path: "../Examples/Data/cities.ndjson").standardizedFileURL
    }

    static func all() throws -> [City] {
        let decoder = JSONDecoder()
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(City.self, from: Data($0))
        }
    }
}

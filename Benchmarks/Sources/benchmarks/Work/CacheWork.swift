import Foundation
import Synchronization
import TypedCache

/// Saving and fetching 1,000 cities; each figure is for one city.
struct CacheWork {
    private let cities = City.thousand
    private let keys = City.thousand.map { String($0.geonameid) }
    private let directory: URL

    /// - Parameter directory: an empty directory to fill.
    init(directory: URL) {
        self.directory = directory
    }

    func comparisons() throws -> [Comparison] {
        [try saving(), try hittingMemory(), try hittingDisk()]
    }

    /// Entries are there already in all but the first round, so this is mostly the cost of replacing a file.
    private func saving() throws -> Comparison {
        let cache = try Cache<City>(name: "saved", directory: directory)
        let folder = try folder("saved by hand")
        let encoder = JSONEncoder()
        return Comparison(
            work: "save over one of 1,000 cities",
            contenders: [
                Contender("Cache") { index in
                    try cache.save(cities[index % 1_000], forKey: keys[index % 1_000])
                },
                Contender("JSONEncoder + Data.write(.atomic)") { index in
                    try encoder.encode(cities[index % 1_000])
                        .write(to: folder.appending(path: keys[index % 1_000]), options: .atomic)
                },
            ]
        )
    }

    private func hittingMemory() throws -> Comparison {
        let cache = try filledCache("memory", memory: MemoryLimit())
        let table = Mutex(Dictionary(uniqueKeysWithValues: zip(keys, cities)))
        let objects = NSCache<NSString, Box>()
        for (key, city) in zip(keys, cities) { objects.setObject(Box(city), forKey: key as NSString) }
        return Comparison(
            work: "hit one of 1,000 cities in memory",
            contenders: [
                Contender("Cache") { index in try cache.fetch(forKey: keys[index % 1_000]) },
                Contender("Mutex<Dictionary>") { index in table.withLock { $0[keys[index % 1_000]] } },
                Contender("NSCache") { index in objects.object(forKey: keys[index % 1_000] as NSString)?.city },
            ]
        )
    }

    private func hittingDisk() throws -> Comparison {
        let cache = try filledCache("disk", memory: .none)
        let folder = try folder("disk by hand")
        for (key, city) in zip(keys, cities) {
            try JSONEncoder().encode(city).write(to: folder.appending(path: key))
        }
        let decoder = JSONDecoder()
        return Comparison(
            work: "hit one of 1,000 cities on disk",
            contenders: [
                Contender("Cache, nothing in memory") { index in
                    try cache.fetch(forKey: keys[index % 1_000])
                },
                Contender("Data(contentsOf:) + JSONDecoder") { index in
                    let data = try Data(contentsOf: folder.appending(path: keys[index % 1_000]))
                    return try decoder.decode(City.self, from: data)
                },
            ]
        )
    }

    private func filledCache(_ name: String, memory: MemoryLimit) throws -> Cache<City> {
        let cache = try Cache<City>(name: name, directory: directory, memory: memory)
        for (key, city) in zip(keys, cities) { try cache.save(city, forKey: key) }
        return cache
    }

    private func folder(_ name: String) throws -> URL {
        let folder = directory.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

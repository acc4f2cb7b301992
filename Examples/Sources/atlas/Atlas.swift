import Foundation
import TypedCache

/// Answers questions from the cache `cities`, which `typed-cache warm --app atlas` fills.
struct Atlas {
    /// How many differences are told one by one.
    private static let longestList = 20

    private let cache: Cache<City>

    /// - Parameter root: the directory that holds the cache's directory; `nil` for the program's own.
    init(root: URL?) throws {
        // For `typed-cache top`.
        let disk = DiskSettings(publishesStatistics: true)
        cache = try Cache<City>(name: "cities", directory: root, settings: CacheSettings(disk: disk))
    }

    func answer(_ question: Request.Question) throws {
        switch question {
        case .largest(let country, let count): try showLargest(country, count)
        case .city(let id): try show(id)
        case .cities: try showCities()
        case .verify(let file): try verify(file)
        }
    }

    private func showLargest(_ country: String, _ count: Int) throws {
        var cities: [City] = []
        var keys = try cache.keys()
        while let key = try keys.next() {
            if let city = try cache.fetch(forKey: key), city.countrycode == country { cities.append(city) }
        }
        guard !cities.isEmpty else { throw AtlasError(description: "No city of \(country) is in the cache.") }
        cities.sort { ($1.population, $0.geonameid) < ($0.population, $1.geonameid) }
        for city in cities.prefix(count) { print("\(city.population)\t\(city.name)") }
    }

    private func show(_ id: Int) throws {
        guard let city = try cache.fetch(forKey: id) else {
            throw AtlasError(description: "No city \(id) is in the cache.")
        }
        print("\(city.name), \(city.countrycode): \(city.population) people")
        print("\(city.latitude), \(city.longitude); \(city.timezone)")
    }

    private func showCities() throws {
        while let line = readLine() {
            guard let id = Int(line) else { throw AtlasError(description: "'\(line)' is not a whole number.") }
            try show(id)
        }
    }

    private func verify(_ file: String) throws {
        let decoder = JSONDecoder()
        let lines = try Data(contentsOf: URL(fileURLWithPath: file)).split(separator: UInt8(ascii: "\n"))
        guard !lines.isEmpty else { throw AtlasError(description: "No city is in \(file).") }
        var faults: [String] = []
        for (index, line) in lines.enumerated() {
            let city: City
            do {
                city = try decoder.decode(City.self, from: line)
            } catch {
                throw AtlasError(description: "City \(index + 1) of \(file) cannot be read: \(error)")
            }
            if let fault = try fault(of: city) { faults.append(fault) }
        }
        print("\(lines.count - faults.count) of \(lines.count) cities equal")
        guard faults.isEmpty else {
            let list = faults.prefix(Self.longestList).joined(separator: "\n")
            throw AtlasError(description: "The cache is not what \(file) says:\n\(list)")
        }
    }

    /// The difference of the cached city from `city`, or that there is none in the cache; `nil` if both are the same.
    private func fault(of city: City) throws -> String? {
        guard let cached = try cache.fetch(forKey: city.geonameid) else {
            return "\(city.geonameid) is not in the cache"
        }
        let differences = cached.differences(from: city)
        guard !differences.isEmpty else { return nil }
        return "\(city.geonameid) differs in \(differences.joined(separator: ", "))"
    }
}

import BenchmarkKit
import Foundation
import TypedCache

/// A record of eight fields, as a gazetteer has them.
struct City: Codable, Encoded, Sendable {
    var geonameid: Int
    let name: String
    let latitude: Double
    let longitude: Double
    let countrycode: String
    let population: Int
    let timezone: String
    let admin1code: String

    /// Cities that are all different and the same in every run.
    static let thousand = (0..<1_000).map { number in
        City(
            geonameid: 2_950_000 + number * 17,
            name: "Neustadt an der Talsperre \(number)",
            latitude: 47.3 + Double(number * 7_919 % 1_000) / 137,
            longitude: 6.1 + Double(number * 104_729 % 1_000) / 113,
            countrycode: "DE",
            population: 15_000 + number * number,
            timezone: "Europe/Berlin",
            admin1code: "\(number % 16)"
        )
    }

    /// A file of cities in JSON, one a line: that of `TYPED_CACHE_CITIES`, or that of the examples.
    static var file: URL {
        if let path = ProcessInfo.processInfo.environment["TYPED_CACHE_CITIES"] { return URL(filePath: path) }
        return PackageFolder.url.appending(path: "../Examples/Data/cities.ndjson").standardizedFileURL
    }

    /// A file of so many cities: that one if it has as many, or one of its cities again and again, with other numbers.
    static func file(of count: Int, in folder: URL) throws -> URL {
        let cities = try recorded()
        if cities.count == count { return file }
        let encoder = JSONEncoder()
        var lines = Data()
        for number in 0..<count {
            var city = cities[number % cities.count]
            if number >= cities.count { city.geonameid = 20_000_000 + number }
            lines += try encoder.encode(city) + [UInt8(ascii: "\n")]
        }
        let made = folder.appending(path: "cities.ndjson")
        try lines.write(to: made)
        return made
    }

    /// The cities of the file.
    static func recorded() throws -> [City] {
        let decoder = JSONDecoder()
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(City.self, from: Data($0))
        }
    }
}

/// The fields of a city as an `NSCoding` class, for Foundation's archiver: on Linux it takes no Codable value.
final class EncodableCity: NSObject, NSCoding {
    let city: City

    init(_ city: City) { self.city = city }

    required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String,
            let countrycode = coder.decodeObject(forKey: "countrycode") as? String,
            let timezone = coder.decodeObject(forKey: "timezone") as? String,
            let admin1code = coder.decodeObject(forKey: "admin1code") as? String
        else { return nil }
        city = City(
            geonameid: coder.decodeInteger(forKey: "geonameid"),
            name: name,
            latitude: coder.decodeDouble(forKey: "latitude"),
            longitude: coder.decodeDouble(forKey: "longitude"),
            countrycode: countrycode,
            population: coder.decodeInteger(forKey: "population"),
            timezone: timezone,
            admin1code: admin1code
        )
    }

    func encode(with coder: NSCoder) {
        coder.encode(city.geonameid, forKey: "geonameid")
        coder.encode(city.name, forKey: "name")
        coder.encode(city.latitude, forKey: "latitude")
        coder.encode(city.longitude, forKey: "longitude")
        coder.encode(city.countrycode, forKey: "countrycode")
        coder.encode(city.population, forKey: "population")
        coder.encode(city.timezone, forKey: "timezone")
        coder.encode(city.admin1code, forKey: "admin1code")
    }
}

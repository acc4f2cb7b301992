import Foundation

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

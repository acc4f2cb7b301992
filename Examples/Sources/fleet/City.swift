import TypedCache

/// A city of the GeoNames gazetteer, as each line of `Data/cities.ndjson` has it.
struct City: Codable, Encoded, Equatable, Sendable {
    let geonameid: Int
    let name: String
    let latitude: Double
    let longitude: Double
    let countrycode: String
    var population: Int
    let timezone: String
    let admin1code: String
}

extension City {
    /// A city that is in no file.
    ///
    /// - Parameter process: the one that makes it.
    static func made(_ id: Int, by process: Int32 = 0) -> City {
        City(
            geonameid: id,
            name: "Nowhere",
            latitude: 0,
            longitude: 0,
            countrycode: "",
            population: 0,
            timezone: "",
            admin1code: "\(process)"
        )
    }
}

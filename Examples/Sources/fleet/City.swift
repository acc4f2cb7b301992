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

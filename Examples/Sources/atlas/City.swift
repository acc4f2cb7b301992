import TypedCache

/// A city of the GeoNames gazetteer, as each line of `Data/cities.ndjson` has it.
struct City: Codable, Encoded, Sendable {
    let geonameid: Int
    let name: String
    let latitude: Double
    let longitude: Double
    let countrycode: String
    let population: Int
    let timezone: String
    let admin1code: String
}

extension City {
    /// The names of the fields that are not the same to the last bit.
    ///
    /// Strings are compared by bytes: `==` takes composed and decomposed letters for the same.
    func differences(from other: City) -> [String] {
        func differ(_ field: KeyPath<City, String>) -> Bool {
            !self[keyPath: field].utf8.elementsEqual(other[keyPath: field].utf8)
        }
        func differ(_ field: KeyPath<City, Double>) -> Bool {
            self[keyPath: field].bitPattern != other[keyPath: field].bitPattern
        }
        let fields: [(name: String, differs: Bool)] = [
            ("geonameid", geonameid != other.geonameid),
            ("name", differ(\.name)),
            ("latitude", differ(\.latitude)),
            ("longitude", differ(\.longitude)),
            ("countrycode", differ(\.countrycode)),
            ("population", population != other.population),
            ("timezone", differ(\.timezone)),
            ("admin1code", differ(\.admin1code)),
        ]
        return fields.filter(\.differs).map(\.name)
    }
}

import TypedCache

/// A record of eight fields, as a gazetteer has them.
struct City: Codable, Encoded, Sendable {
    let geonameid: Int
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
}

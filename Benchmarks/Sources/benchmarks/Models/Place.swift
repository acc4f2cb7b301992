import TypedCache

/// A small value.
struct Place: Codable, Encoded, Sendable {
    let number: Int
    let latitude: Double
    let longitude: Double

    init(number: Int) {
        self.number = number
        latitude = 47.3 + Double(number % 1_000) / 137
        longitude = 6.1 + Double(number % 997) / 113
    }
}

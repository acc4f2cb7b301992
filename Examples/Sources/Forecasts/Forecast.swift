import TypedCache

/// The weather to come in a city.
public struct Forecast: Codable, Encoded, Equatable, Sendable {
    public var city: String
    public var degrees: Int

    public init(city: String, degrees: Int) {
        self.city = city
        self.degrees = degrees
    }
}

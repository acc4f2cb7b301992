import Forecasts

/// A service that counts its requests, and can be unplugged.
actor Service {
    struct Unreachable: Error {}

    private(set) var requestCount = 0
    private var isReachable = true
    private var degrees = 20

    func forecast(for city: String) throws -> Forecast {
        requestCount += 1
        guard isReachable else { throw Unreachable() }
        return Forecast(city: city, degrees: degrees)
    }

    func warm(to degrees: Int) { self.degrees = degrees }
    func unplug() { isReachable = false }
}

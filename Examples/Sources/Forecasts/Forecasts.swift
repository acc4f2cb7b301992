import TypedCache

/// Forecasts of a service, each kept for an hour, and for a day longer while the service is down.
///
/// The cache is given to it, so that tests can hand it one of their own.
public struct Forecasts: Sendable {
    private let cache: Cache<Forecast>
    private let download: @Sendable (_ city: String) async throws -> Forecast

    public init(cache: Cache<Forecast>, download: @escaping @Sendable (_ city: String) async throws -> Forecast) {
        self.cache = cache
        self.download = download
    }

    /// The forecast for a city, downloaded if it is not there.
    public func forecast(for city: String, user: String) async throws -> Forecast {
        let expiration = Expiration.after(.hours(1)).servingStaleOnError(for: .seconds(86_400))
        return try await cache.fetch(forKey: city, expiration: expiration, tags: [user]) {
            try await download(city)
        }
    }

    /// Forgets all that was downloaded for a user.
    public func signOut(user: String) async throws { try await cache.removeAll(tagged: user) }
}

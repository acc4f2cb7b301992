import Foundation

/// How long a server says that an answer is fresh.
enum StatedLifetime: Hashable, Sendable {
    /// Not at all: the server wants to be asked each time (`no-cache`).
    case mustAsk
    /// Seconds since the server made the answer (`max-age`).
    case seconds(Int)
    /// Up to a moment by the server's clock (`Expires`).
    case until(Date)
}

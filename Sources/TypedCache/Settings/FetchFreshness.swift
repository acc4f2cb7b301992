/// How recent the value of a fetch has to be.
public struct FetchFreshness: Sendable, Hashable, CustomStringConvertible {
    private enum Base: String { case bounded, latest }

    private let base: Base

    /// As recent as the cache's settings promise.
    public static let bounded = FetchFreshness(base: .bounded)
    /// No older than the fetch, which asks the server or reads the disk.
    public static let latest = FetchFreshness(base: .latest)

    /// `bounded` or `latest`.
    public var description: String { base.rawValue }
}

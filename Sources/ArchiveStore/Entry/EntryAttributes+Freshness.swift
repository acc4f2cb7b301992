import Foundation

extension EntryAttributes {
    /// The uses that the entry has at `now`.
    package func freshness(at now: Date) -> Freshness {
        guard let expiresAt, now >= expiresAt else { return .fresh }
        if now < expiresAt.addingTimeInterval(staleWhileRevalidate) { return .staleWhileRevalidate }
        if now < expiresAt.addingTimeInterval(staleIfError) { return .staleIfError }
        guard let usableUntil, now >= usableUntil else { return .expired }
        return .useless
    }
}

import Foundation

extension StoreError {
    /// Whether the log that was open is no longer the one at the store's path.
    var isStale: Bool { code == .io && errorNumber == ESTALE }
}

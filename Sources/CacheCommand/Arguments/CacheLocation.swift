/// Where a cache's directory is.
package enum CacheLocation: Sendable, Equatable {
    /// In the directory that holds an app's caches.
    case root(String)
    /// Where an app of that name keeps its caches.
    case app(String)
    /// Where this command keeps its own.
    case standard
}

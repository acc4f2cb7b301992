/// How a cache keeps its entries on disk.
package enum CacheLayout: String, Sendable, CaseIterable {
    /// One after another in a few files.
    case packed
    /// Each in a file of its own.
    case files
}

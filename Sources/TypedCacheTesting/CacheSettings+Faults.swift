import TypedCache

extension CacheSettings {
    /// Returns a copy of the settings for a cache whose disk fails as `faults` says.
    ///
    /// ```swift
    /// let settings = CacheSettings<City>().failing(by: faults)
    /// let cities = try Cache(name: "cities", directory: directory.url, settings: settings)
    /// ```
    ///
    /// Opening itself does not fail by `faults`. Has no effect on a cache in memory alone, nor on one whose entries are
    /// on a server.
    ///
    /// - Parameter faults: says which calls of the disk fail; may be changed later.
    public func failing(by faults: DiskFaults) -> CacheSettings {
        var settings = self
        settings.replacingStore = { FaultyStore($0, faults) }
        return settings
    }
}

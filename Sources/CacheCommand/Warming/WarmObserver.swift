/// Hears what happens while a cache is warmed.
protocol WarmObserver {
    /// `key` has been saved.
    mutating func saved(_ key: String) throws(OutputError)

    /// A record had to be skipped.
    mutating func skipped(_ badRecord: BadRecord)

    /// One more record has been dealt with.
    mutating func advanced(_ progress: Progress) throws(OutputError)
}

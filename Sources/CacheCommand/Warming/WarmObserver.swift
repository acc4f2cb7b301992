/// Hears what happens while a cache is warmed.
protocol WarmObserver {
    /// `key` has been saved.
    mutating func saved(_ key: String) throws(OutputError)

    /// A record had to be skipped.
    mutating func skipped(_ badRecord: BadRecord)

    /// All so far has been told, and the next record may take long to come.
    mutating func waiting() throws(OutputError)

    /// One more record has been dealt with.
    mutating func advanced(_ progress: Progress) throws(OutputError)
}

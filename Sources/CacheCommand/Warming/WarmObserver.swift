/// Receives events while a cache is warmed.
protocol WarmObserver {
    /// `key` has been saved.
    mutating func saved(_ key: String) throws(OutputError)

    /// A record had to be skipped.
    mutating func skipped(_ badRecord: BadRecord)

    /// All records so far have been reported, and the next one may take long to come.
    mutating func waiting() throws(OutputError)

    /// One more record has been dealt with.
    mutating func advanced(_ progress: Progress) throws(OutputError)
}

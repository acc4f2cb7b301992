/// Where records go.
package protocol RecordSink: Sendable {
    /// Saves `record` for `key`; once this returns, it is saved.
    ///
    /// - Throws: ``RejectedRecord`` if this record cannot be taken and the next one might; any other error ends
    ///   the work.
    func save(_ record: Record, forKey key: String) throws

    /// Whether there is an entry for `key` already that has not expired.
    func contains(_ key: String) throws -> Bool

    /// On how many threads at once records are saved: more than 1 only if all of this may be called on any thread.
    var threadCount: Int { get }
}

extension RecordSink {
    package var threadCount: Int { 1 }
}

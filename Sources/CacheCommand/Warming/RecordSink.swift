/// Where records go.
package protocol RecordSink {
    /// Saves `record` for `key`; once this returns, it is saved.
    ///
    /// - Throws: ``RejectedRecord`` if this record cannot be taken and the next one might; any other error ends
    ///   the work.
    func save(_ record: Record, forKey key: String) throws

    /// Whether there is an entry for `key` already that has not expired.
    func contains(_ key: String) throws -> Bool
}

/// Saves nothing: where records go when they are only to be checked.
struct DiscardingSink: RecordSink {
    func save(_ record: Record, forKey key: String) {}
    func contains(_ key: String) -> Bool { false }
}

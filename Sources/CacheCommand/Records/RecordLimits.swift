/// Limits on one record, so that no input makes the command allocate without bound.
struct RecordLimits: Sendable, Equatable {
    /// Bytes of text; longer records are skipped without being held.
    var bytes = 64 << 20
    /// Nesting of arrays and objects.
    var depth = 512
    /// Values in all, nested ones included: two bytes of text can cost 24 of memory.
    var values = 1 << 20
}

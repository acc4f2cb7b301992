import CMeasuring

/// Counts the allocations of the whole process while something runs. Not for timing: counting takes time.
enum AllocationCounter {
    /// How often memory was allocated, or `nil` where that cannot be told.
    static func count(_ body: () throws -> Void) rethrows -> Int? {
        guard allocations_are_countable() else { return nil }
        allocations_start_counting()
        defer { _ = allocations_stop_counting() }
        try body()
        return Int(allocations_stop_counting())
    }
}

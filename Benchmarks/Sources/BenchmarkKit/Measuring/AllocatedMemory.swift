import CMeasuring

/// The memory that this process has allocated and not freed.
package enum AllocatedMemory {
    /// In bytes, with the allocator's overhead for each block; `nil` where that cannot be told.
    package static var byteCount: Int? {
        let count = memory_allocated()
        return count < 0 ? nil : Int(count)
    }

    /// Gives freed memory back to the system, so that only memory in use is resident.
    package static func trim() { memory_trim() }
}

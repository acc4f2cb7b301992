import CMeasuring

/// The memory that this process has allocated and not freed.
package enum AllocatedMemory {
    /// In bytes, with what the allocator adds to each block; `nil` where that cannot be told.
    package static var byteCount: Int? {
        let count = memory_allocated()
        return count < 0 ? nil : Int(count)
    }

    /// Gives back to the system what was freed, so that what is resident is what is in use.
    package static func trim() { memory_trim() }
}

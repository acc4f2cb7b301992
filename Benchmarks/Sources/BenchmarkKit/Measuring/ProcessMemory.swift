import CMeasuring
import Foundation

/// The memory of this process.
package enum ProcessMemory {
    /// The bytes that are allocated and not freed, with the allocator's overhead; `nil` where the C library does not
    /// report them.
    package static var allocatedByteCount: Int? {
        let count = memory_allocated()
        return count < 0 ? nil : Int(count)
    }

    /// The bytes that are resident; `nil` on systems without `/proc`.
    package static var residentByteCount: Int? {
        // Pages: all mapped ones, then the resident ones.
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    /// Gives freed memory back to the system, so that only memory in use is resident.
    package static func trim() { memory_trim() }
}

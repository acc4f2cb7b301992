import Foundation

/// How much memory this process has in use.
enum ResidentMemory {
    /// In bytes; `nil` where the system does not tell by `/proc`.
    static var byteCount: Int? {
        // Pages: all mapped ones, then the resident ones.
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}

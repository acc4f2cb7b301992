import Foundation

/// How long a thread was ready to run, but others had the processors.
final class ProcessorWait {
    private let descriptor: Int32
    private var last = 0.0

    /// Measures the calling thread, which alone may use this; 0 where the system does not tell by `/proc`.
    init() {
        descriptor = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        last = total
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Nanoseconds of waiting since the last call.
    func take() -> Double {
        let now = total
        defer { last = now }
        return now - last
    }

    /// Three numbers: time on a processor, time of waiting for one, and how often.
    private var total: Double {
        var buffer = [UInt8](repeating: 0, count: 96)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return 0 }
        let fields = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Double(fields[1]) ?? 0 : 0
    }
}

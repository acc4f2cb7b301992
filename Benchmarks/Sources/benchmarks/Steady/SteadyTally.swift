import BenchmarkKit
import Foundation

/// The times of saves and fetches, and their hits.
struct SteadyTally {
    var saves = Latencies()
    var fetches = Latencies()
    var hits = 0
    /// The bytes of keys and streams that were saved.
    var userByteCount = 0
    let wait = ProcessorWait()

    mutating func reserve(_ duration: Duration) {
        saves.reserve(duration)
        fetches.reserve(duration)
    }

    /// Times of operations, in nanoseconds.
    struct Latencies {
        private(set) var count = 0
        /// All long times, and some of the others.
        private(set) var kept: [Double] = []
        /// The intervals of operations that took more than 20 ms.
        private(set) var pauses: [ClosedRange<Double>] = []
        /// The longest time, less the time in which other threads had the processors.
        private(set) var longestAwake = 0.0
        private var stride = 1

        mutating func reserve(_ duration: Duration) {
            stride = 1 + Int(duration / .seconds(60))
            // More than there will be: the system gives memory only once it is used.
            kept.reserveCapacity(20_000_000)
        }

        mutating func append(since start: Double, _ wait: ProcessorWait) {
            let end = MonotonicTime.nanoseconds()
            let nanoseconds = end - start
            if nanoseconds > 1e6 { longestAwake = max(longestAwake, nanoseconds - wait.take()) }
            if nanoseconds > 20e6 { pauses.append(start...end) }
            if count.isMultiple(of: stride) || nanoseconds > 1e6 { kept.append(nanoseconds) }
            count += 1
        }
    }
}

/// How long a thread was ready to run, but others had the processors.
final class ProcessorWait {
    private let descriptor: Int32
    private var last = 0.0

    /// Measures the calling thread, which alone may use this; 0 on systems without `/proc`.
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

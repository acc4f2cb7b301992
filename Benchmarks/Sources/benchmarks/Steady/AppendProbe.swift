import BenchmarkKit
import Foundation
import Synchronization

/// A thread that appends to files of its own in the same file system while another one is measured: pauses of both at
/// the same time come from the system.
///
/// A KiB each millisecond; after every 4 MiB another file is begun, and the former one removed. It makes one
/// call after another, so only the system can hold one up.
final class AppendProbe: Sendable {
    /// When calls were held up, in nanoseconds of the monotonic clock.
    struct Seen: Sendable {
        fileprivate(set) var holdups: [ClosedRange<Double>] = []
        fileprivate(set) var longest = 0.0

        /// Whether a call was held up for at least half of a time.
        func explains(_ time: ClosedRange<Double>) -> Bool {
            let shared = holdups.reduce(0) {
                $0 + max(0, min($1.upperBound, time.upperBound) - max($1.lowerBound, time.lowerBound))
            }
            return shared >= (time.upperBound - time.lowerBound) / 2
        }
    }

    private static let interval = 0.001
    private static let fileByteCount = 4 << 20
    /// The shortest time that counts as held up, in nanoseconds.
    private static let shortestHoldup = 2e6

    private let folder: URL
    private let seen = Mutex(Seen())
    private let isDone = Atomic<Bool>(false)
    private let group = DispatchGroup()

    /// - Parameter folder: where it makes its files; exists.
    init(in folder: URL) {
        self.folder = folder
        group.enter()
        let thread = Thread { [self] in
            defer { group.leave() }
            var number = 0
            while !isDone.load(ordering: .relaxed) {
                appendToFile(number)
                number += 1
            }
        }
        thread.start()
    }

    /// Stops the thread.
    ///
    /// - Returns: its times.
    func end() -> Seen {
        isDone.store(true, ordering: .relaxed)
        group.wait()
        return seen.withLock { $0 }
    }

    private func appendToFile(_ number: Int) {
        let path = folder.appending(path: "probe-\(number)").path
        let descriptor = timed { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { return isDone.store(true, ordering: .relaxed) }
        let bytes = [UInt8](repeating: 0x61, count: 1 << 10)
        for offset in stride(from: 0, to: Self.fileByteCount, by: bytes.count) {
            if isDone.load(ordering: .relaxed) { break }
            _ = timed { Int32(truncatingIfNeeded: pwrite(descriptor, bytes, bytes.count, off_t(offset))) }
            Thread.sleep(forTimeInterval: Self.interval)
        }
        _ = timed { close(descriptor) }
        _ = timed { unlink(path) }
    }

    private func timed(_ call: () -> Int32) -> Int32 {
        let start = MonotonicTime.nanoseconds()
        let result = call()
        let end = MonotonicTime.nanoseconds()
        seen.withLock { seen in
            seen.longest = max(seen.longest, end - start)
            if end - start >= Self.shortestHoldup { seen.holdups.append(start...end) }
        }
        return result
    }
}

import Synchronization

/// Streams that are set up once and lent to one caller at a time.
///
/// Setting a deflate stream up costs more than deflating a small archive with it (see `DeflateSettings`).
final class StreamPool<Stream: AnyObject & Sendable>: Sendable {
    private let idle = Mutex<[Stream]>([])
    private let capacity: Int
    private let make: @Sendable () -> Stream

    /// - Parameter capacity: How many idle streams are kept; more callers at once get streams of their own.
    init(capacity: Int, make: @escaping @Sendable () -> Stream) {
        self.capacity = capacity
        self.make = make
    }

    /// Calls `body` with a stream that nobody else uses meanwhile; a fresh one if all are lent.
    func withStream<Result>(_ body: (Stream) -> Result) -> Result {
        let stream = idle.withLock { $0.popLast() } ?? make()
        defer {
            idle.withLock { streams in
                if streams.count < capacity { streams.append(stream) }
            }
        }
        return body(stream)
    }
}

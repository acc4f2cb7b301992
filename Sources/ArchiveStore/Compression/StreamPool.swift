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

    /// Calls `body` with a stream that no other caller uses in the meantime; a fresh one if all are lent.
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

/// A pool for each of zlib's levels 1 to 9, which share nothing.
struct LevelPools<Stream: AnyObject & Sendable>: Sendable {
    private let pools: [StreamPool<Stream>]

    /// - Parameter capacity: How many idle streams each pool keeps.
    init(capacity: Int, make: @escaping @Sendable (_ level: Int) -> Stream) {
        pools = (1...9).map { level in StreamPool(capacity: capacity) { make(level) } }
    }

    /// - Precondition: `level` is 1 to 9.
    subscript(level: Int) -> StreamPool<Stream> { pools[level - 1] }
}

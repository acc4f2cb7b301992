/// Bytes that have not been written yet.
struct RedisOutput {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: [UInt8]) { bytes += more }

    /// Writes as much as is taken.
    ///
    /// - Parameter take: takes bytes from the beginning of its argument.
    mutating func write(
        _ take: (UnsafeRawBufferPointer) throws(SocketError) -> Socket.Transfer
    ) throws(SocketError) {
        while !isEmpty {
            let outcome = bytes.withUnsafeBytes { bytes in
                Result { () throws(SocketError) in try take(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
            }
            guard case .bytes(let count) = try outcome.get() else { break }
            start += count
        }
        if isEmpty || start >= 1 << 20 {
            bytes.removeFirst(start)
            start = 0
        }
    }
}

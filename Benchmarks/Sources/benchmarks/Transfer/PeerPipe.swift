import Foundation

/// A pipe with a thread at each end, which write and read 64 KiB at a time.
final class PeerPipe: Sendable {
    private static let pieceByteCount = 64 << 10

    private let pipe = Pipe()

    init() throws {}

    /// Has one thread write while this one reads.
    func turn(
        writing: @escaping @Sendable ((Data) throws -> Void) throws -> Void,
        reading: (() throws -> Data) throws -> Void
    ) throws {
        let (writer, reader) = (pipe.fileHandleForWriting.fileDescriptor, pipe.fileHandleForReading.fileDescriptor)
        let result = Outcomes()
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            do {
                var held = Data()
                try writing { data in
                    held += data
                    guard held.count >= Self.pieceByteCount else { return }
                    try Self.write(held, to: writer)
                    held.removeAll(keepingCapacity: true)
                }
                try Self.write(held, to: writer)
            } catch {
                result.note(error)
            }
            done.signal()
        }
        var buffer = [UInt8](repeating: 0, count: Self.pieceByteCount)
        try reading {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { throw POSIXError(.EPIPE) }
            return Data(buffer[..<count])
        }
        done.wait()
        try result.check()
    }

    private static func write(_ data: Data, to descriptor: Int32) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw POSIXError(.EPIPE) }
            rest = rest.dropFirst(count)
        }
    }
}

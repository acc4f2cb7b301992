/// Cuts a stream of bytes into frames, and takes the archives out of them.
///
/// Holds the bytes that have arrived and not been taken: a frame whose length is within the limit, and one piece more.
/// A frame that says that it is longer is refused by its header.
struct FrameParser {
    /// The result of looking for a message.
    enum Step {
        case message(UnarchiverMemory)
        /// The stream's other side has finished.
        case end
        case needsMore
    }

    private let byteLimit: Int
    private var bytes: [UInt8] = []
    /// Where the bytes begin that have not been taken.
    private var start = 0
    private var hasEnded = false
    private var failure: TransferError?
    /// The bytes of whole frames that were taken.
    private(set) var offset = 0
    private(set) var messageCount = 0

    /// - Parameter byteLimit: the length of the longest archive, in bytes.
    init(byteLimit: Int) { self.byteLimit = min(byteLimit, FrameHeader.lengthLimit) }

    mutating func append(_ piece: [UInt8]) {
        if start == bytes.count {
            bytes = piece
        } else {
            bytes.removeFirst(start)
            bytes += piece
        }
        start = 0
    }

    /// Takes the next message.
    ///
    /// - Throws: `.corrupted`, `.unsupportedVersion`, `.limitExceeded`; the same error ever after.
    mutating func next() throws(TransferError) -> Step {
        if let failure { throw failure }
        if hasEnded { return .end }
        do throws(TransferError) {
            return try takeFrame()
        } catch {
            throw fail(error)
        }
    }

    /// The error for a stream that ends here, or for one that cannot be read on; `nil` if the other side has finished.
    mutating func end(_ error: TransferError? = nil) -> TransferError? {
        if let failure { return failure }
        if hasEnded { return nil }
        if let error { return fail(error) }
        if start < bytes.count {
            return fail(TransferError(.truncated, "the stream ends inside of a frame"))
        }
        return fail(TransferError(.disconnected, "the stream ends, and the other side had not finished"))
    }

    /// The error with the place that the stream was read to.
    func located(_ error: TransferError) -> TransferError { error.at(offset: offset, messageCount: messageCount) }

    /// Records the error that ends the stream.
    private mutating func fail(_ error: TransferError) -> TransferError {
        let error = located(error)
        failure = error
        bytes = []
        start = 0
        return error
    }

    private mutating func takeFrame() throws(TransferError) -> Step {
        let available = bytes.count - start
        // Garbage is refused at its first byte.
        guard bytes[start...].starts(with: FrameHeader.magic.prefix(available)) else {
            throw TransferError(.corrupted, "the bytes are not a frame")
        }
        guard available >= FrameHeader.byteCount else { return .needsMore }
        let header = try bytes.withUnsafeBytes { bytes in
            let header = UnsafeRawBufferPointer(rebasing: bytes[start..<start + FrameHeader.byteCount])
            return Result { () throws(TransferError) in try FrameHeader(header) }
        }.get()
        if header.kind == .end {
            start += FrameHeader.byteCount
            offset += FrameHeader.byteCount
            hasEnded = true
            return .end
        }
        guard header.length <= byteLimit else {
            throw TransferError(
                .limitExceeded,
                "a message of \(header.length) bytes, where at most \(byteLimit) are allowed"
            )
        }
        let end = start + FrameHeader.byteCount + header.length
        guard bytes.count >= end else { return .needsMore }
        let memory = bytes.withUnsafeBytes { bytes -> UnarchiverMemory? in
            let archive = UnsafeRawBufferPointer(rebasing: bytes[(end - header.length)..<end])
            return FrameChecksum.of(archive) == header.checksum ? UnarchiverMemoryPool.take(copying: archive) : nil
        }
        guard let memory else { throw TransferError(.corrupted, "the checksum of a message is wrong") }
        start = end
        offset += FrameHeader.byteCount + header.length
        messageCount += 1
        return .message(memory)
    }
}

import Foundation

/// Sends object graphs and Codable values as keyed archives over a stream of bytes: a pipe, a socket, a file.
///
/// ```swift
/// let sender = try ArchiveSender(to: pipe.fileHandleForWriting)
/// try await sender.send(lion)
/// try await sender.send(encoding: Command.stop)
/// try await sender.finish()
/// ```
///
/// The other side reads them with an ``ArchiveReceiver``. Each message is a graph of its own: objects that it refers to
/// several times, and circles, arrive as such; nothing is shared between two messages.
///
/// A value is archived by the caller, and written by a thread of the sender's own, so that neither the caller nor
/// Swift's threads ever block on the stream. While more bytes wait than the buffer has room for, `send` suspends:
/// this is how a slow reader slows its sender down. Messages of one task arrive in their order.
///
/// The sender must be the only one that writes to its stream. It keeps the handle open while it exists, and does not
/// close it. A reader that is gone is an error, and never a signal.
public final class ArchiveSender: Sendable {
    private let bytes: OutgoingBytes
    private let messageByteLimit: Int

    /// Prepares to send over an open stream; writes nothing yet.
    ///
    /// A pipe's descriptor is set not to block while the sender exists.
    ///
    /// - Parameters:
    ///   - handle: the stream, open for writing.
    ///   - messageByteLimit: the length of the longest archive, in bytes; 64 MiB by default, 4 GiB at most.
    ///   - bufferByteLimit: how many bytes may wait to be written; a longer message waits alone. 256 KiB by default.
    /// - Throws: ``TransferError`` with code `.io` if the handle is closed, or the process has no descriptors left.
    public init(
        to handle: FileHandle,
        messageByteLimit: Int = 64 << 20,
        bufferByteLimit: Int = 256 << 10
    ) throws(TransferError) {
        bytes = OutgoingBytes(try StreamDescriptor(handle), byteLimit: bufferByteLimit)
        self.messageByteLimit = min(messageByteLimit, FrameHeader.lengthLimit)
    }

    deinit { bytes.stop() }

    /// Sends an object graph. Returns when the message waits to be written, or is written already.
    ///
    /// - Parameter object: an object that adopts `NSCoding`, or a string, number, date, collection, ….
    /// - Throws: ``TransferError`` with code `.unwritableMessage` if something in the graph cannot be archived;
    ///   `.limitExceeded` if the archive is too long; `.disconnected` or `.io` if the stream failed, maybe while an
    ///   earlier message was written; `.finished` after ``finish()``; `.cancelled` if the task or the sender is
    ///   cancelled. A message is sent as a whole or not at all.
    /// - Complexity: O(*n*) in the objects of the graph.
    public nonisolated(nonsending) func send(_ object: Any) async throws(TransferError) {
        try await send { () throws(ArchiveError) in
            let archiver = KeyedArchiver()
            archiver.encode(object, forKey: KeyedArchiver.rootKey)
            return archiver
        }
    }

    /// Sends a Codable value. Returns when the message waits to be written, or is written already.
    ///
    /// - Throws: as ``send(_:)``.
    /// - Complexity: O(*n*) in the values that are archived.
    public nonisolated(nonsending) func send(encoding value: some Encodable) async throws(TransferError) {
        try await send { () throws(ArchiveError) in KeyedArchiver.archiver(encoding: value) }
    }

    /// Waits until all messages are written.
    ///
    /// That they are written does not say that the other side has read them.
    ///
    /// - Throws: ``TransferError`` with code `.disconnected` or `.io` if the stream failed, `.cancelled` if the task or
    ///   the sender is cancelled; a cancelled task leaves the messages where they are.
    public nonisolated(nonsending) func flush() async throws(TransferError) { try await bytes.wait(forRoom: nil) }

    /// Says that there are no more messages, and waits until all are written: the receiver's sequence ends.
    ///
    /// To a receiver, a stream that ends without this was cut off. The handle stays open, for its
    /// owner to close.
    ///
    /// - Throws: as ``flush()``; `.finished` if it was called before.
    public nonisolated(nonsending) func finish() async throws(TransferError) {
        var frame: [UInt8] = []
        FrameHeader(.end, archive: UnsafeRawBufferPointer(start: nil, count: 0)).write(to: &frame)
        _ = try bytes.add(byteCount: frame.count, isLast: true) { $0 += frame }
        try await flush()
    }

    /// Drops the messages that wait. Tasks that wait to send get an error with code `.cancelled`, and so do all later
    /// ones.
    ///
    /// The other side may get a part of a message. A sender that is dropped is cancelled too.
    public func cancel() { bytes.stop() }

    private nonisolated(nonsending) func send(
        _ archive: () throws(ArchiveError) -> KeyedArchiver
    ) async throws(TransferError) {
        guard let waiting = try enqueue(archive) else { return }
        // The reader is slower: the frame waits here, and not in the buffer.
        repeat {
            try await bytes.wait(forRoom: waiting.count)
        } while try !bytes.add(byteCount: waiting.count, { $0 += waiting })
    }

    /// Archives a value into the buffer. Returns its frame if there is no room.
    private func enqueue(_ archive: () throws(ArchiveError) -> KeyedArchiver) throws(TransferError) -> [UInt8]? {
        if Task.isCancelled { throw bytes.located(TransferError(.cancelled, "the task was cancelled")) }
        let result: Result<[UInt8]?, TransferError>
        do throws(ArchiveError) {
            result = try withAutoreleasePool { () throws(ArchiveError) in
                try archive().finish { writer in
                    writer.withFinishedBytes { archive in
                        Result { () throws(TransferError) in try add(UnsafeRawBufferPointer(archive)) }
                    }
                }
            }
        } catch {
            throw bytes.located(TransferError(.unwritableMessage, error.description, cause: error))
        }
        return try result.get()
    }

    private func add(_ archive: UnsafeRawBufferPointer) throws(TransferError) -> [UInt8]? {
        guard archive.count <= messageByteLimit else {
            throw bytes.located(
                TransferError(
                    .limitExceeded,
                    "a message of \(archive.count) bytes, where at most \(messageByteLimit) are allowed"
                )
            )
        }
        let header = FrameHeader(.message, archive: archive)
        func write(_ bytes: inout [UInt8]) {
            header.write(to: &bytes)
            bytes += archive
        }
        if try bytes.add(byteCount: FrameHeader.byteCount + archive.count, { write(&$0) }) { return nil }
        var frame: [UInt8] = []
        write(&frame)
        return frame
    }
}

import Foundation
import Synchronization

/// Receives the values of an ``ArchiveSender`` over a stream of bytes, as a sequence of one type.
///
/// ```swift
/// let animals = try ArchiveReceiver(of: Order.self, allowing: [Family.self], from: pipe.fileHandleForReading)
/// for try await animal in animals { print(animal) }
/// ```
///
/// The sequence ends when the sender has finished. A stream that ends in any other way is an error: `.truncated`
/// inside of a message, `.disconnected` between two.
///
/// Nothing that the other side sends is trusted. The length of a message is checked before it is read, and memory
/// grows with the bytes that arrive, not with the announced length. A message is decoded as any archive is: only the
/// expected classes are instantiated, and ``ArchiveLimits`` hold. A message that cannot be decoded is an error with
/// code `.unreadableMessage`, after which ``next()`` goes on with the one after it; after every other error but
/// `.cancelled` the stream is over, and `next()` throws that error again.
///
/// The receiver has a thread that reads ahead, by about 256 KiB; a value is decoded by the task that takes it.
/// Nothing else may read its stream. It keeps the handle open while it exists, and does not close it.
public final class ArchiveReceiver<Element>: AsyncSequence, Sendable {
    private let bytes: IncomingBytes
    /// Guards the frames; no value is decoded under it.
    private let frames: Mutex<FrameParser>
    private let decode: @Sendable (UnarchiverMemory) throws(ArchiveError) -> Element

    private init(
        _ handle: FileHandle,
        _ limits: ArchiveLimits,
        decode: @escaping @Sendable (UnarchiverMemory) throws(ArchiveError) -> Element
    ) throws(TransferError) {
        bytes = IncomingBytes(try StreamDescriptor(handle))
        frames = Mutex(FrameParser(byteLimit: limits.byteCount))
        self.decode = decode
    }

    deinit { bytes.stop() }

    /// Prepares to receive object graphs; reads nothing yet.
    ///
    /// A pipe's descriptor is set not to block while the receiver exists.
    ///
    /// - Parameters:
    ///   - type: the class that is expected; objects may be of subclasses. Value types that are stored as
    ///     property-list objects (`String`, `[String]`, `Date`, …) are possible too.
    ///   - classes: further classes that may be instantiated inside the graphs, with their subclasses.
    ///   - handle: the stream, open for reading.
    ///   - limits: how much each message may ask for; 64 MiB each by default.
    /// - Throws: ``TransferError`` with code `.io` if the handle is closed, or the process has no descriptors left.
    public convenience init(
        of type: Element.Type,
        allowing classes: [AnyClass] = [],
        from handle: FileHandle,
        limits: ArchiveLimits = ArchiveLimits(byteCount: 64 << 20)
    ) throws(TransferError) where Element: SendableMetatype {
        try self.init(handle, limits) { memory throws(ArchiveError) in
            try KeyedUnarchiver.unarchive(type, allowing: classes, in: memory, limits: limits)
        }
    }

    /// Prepares to receive Codable values; reads nothing yet.
    ///
    /// - Parameters:
    ///   - type: the type of every value.
    ///   - handle: the stream, open for reading.
    ///   - limits: how much each message may ask for; 64 MiB each by default.
    /// - Throws: as ``init(of:allowing:from:limits:)``.
    public convenience init(
        decoding type: Element.Type,
        from handle: FileHandle,
        limits: ArchiveLimits = ArchiveLimits(byteCount: 64 << 20)
    ) throws(TransferError) where Element: Decodable & SendableMetatype {
        try self.init(handle, limits) { memory throws(ArchiveError) in
            try KeyedUnarchiver.unarchive(decoding: type, in: memory, limits: limits)
        }
    }

    /// Receives the next value; waits for it. `nil` when the sender has finished.
    ///
    /// One task at a time may call it; values of two would come in any order.
    ///
    /// - Throws: ``TransferError``: `.unreadableMessage`, after which others can be received; `.corrupted`,
    ///   `.unsupportedVersion`, `.limitExceeded`, `.truncated`, `.disconnected` or `.io`, which end the stream;
    ///   `.cancelled` if the task is cancelled, which loses nothing, or the receiver.
    /// - Complexity: O(*n*) in the message's bytes.
    public nonisolated(nonsending) func next() async throws(TransferError) -> Element? {
        while true {
            switch try frames.withLock({ frames throws(TransferError) in try frames.next() }) {
            case .message(let memory): return try value(in: memory)
            case .end: return nil
            case .needsMore: break
            }
            switch await bytes.next() {
            case .bytes(let piece): frames.withLock { $0.append(piece) }
            case .end(let failure):
                let error = frames.withLock { $0.end(failure) }
                guard let error else { return nil }
                throw error
            case .cancelled: throw frames.withLock { $0.located(TransferError(.cancelled, "cancelled")) }
            }
        }
    }

    /// Stops reading. A task that waits for a message gets an error with code `.cancelled`; a later call may still get
    /// messages that had arrived, and then the same error.
    ///
    /// A receiver that is dropped is cancelled too.
    public func cancel() { bytes.stop() }

    private func value(in memory: UnarchiverMemory) throws(TransferError) -> Element {
        do throws(ArchiveError) {
            return try decode(memory)
        } catch {
            throw frames.withLock {
                $0.located(TransferError(.unreadableMessage, error.description, cause: error))
            }
        }
    }

    /// Takes the receiver's values; those of all iterators together are the stream's.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let receiver: ArchiveReceiver

        /// Receives the next value, as ``ArchiveReceiver/next()`` does.
        public func next() async throws(TransferError) -> Element? { try await receiver.next() }

        /// Receives the next value, as ``ArchiveReceiver/next()`` does.
        public func next(isolation actor: isolated (any Actor)?) async throws(TransferError) -> Element? {
            try await receiver.next()
        }
    }

    /// An iterator over the values that were not taken yet.
    public func makeAsyncIterator() -> Iterator { Iterator(receiver: self) }
}

import Foundation

/// Why a message could not be sent or received.
public struct TransferError: Error, Sendable {
    /// The kind of a failure. New codes may be added: always keep a `default` when switching.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Base: String {
            case
                corrupted, unsupportedVersion, limitExceeded, truncated, disconnected, unreadableMessage,
                unwritableMessage, cancelled, finished, io
        }
        private let base: Base

        /// The bytes are not a frame, or their checksum is wrong. The rest of the stream cannot be read.
        public static let corrupted = Code(base: .corrupted)
        /// A frame of a version that is not known here. The rest of the stream cannot be read.
        public static let unsupportedVersion = Code(base: .unsupportedVersion)
        /// A message is longer than the limit. A sender may go on with others, a receiver cannot.
        public static let limitExceeded = Code(base: .limitExceeded)
        /// The stream ends inside of a frame.
        public static let truncated = Code(base: .truncated)
        /// The other side is gone: it does not read any longer, or the stream ends between two messages and the other
        /// side did not say that it had finished.
        public static let disconnected = Code(base: .disconnected)
        /// A whole message arrived that is not a sound archive of an expected value; ``TransferError/cause`` says why.
        /// The messages after it can be received.
        public static let unreadableMessage = Code(base: .unreadableMessage)
        /// A value cannot be archived; ``TransferError/cause`` says why. Others can be sent.
        public static let unwritableMessage = Code(base: .unwritableMessage)
        /// The task, the sender or the receiver was cancelled.
        public static let cancelled = Code(base: .cancelled)
        /// The sender has finished already.
        public static let finished = Code(base: .finished)
        /// The system reports a failure; ``TransferError/errorNumber`` is its number.
        public static let io = Code(base: .io)

        /// The name of the code, such as `truncated`.
        public var description: String { base.rawValue }

        /// Whether an error has this code, for patterns: `catch TransferError.Code.disconnected`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? TransferError)?.code == code }
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure, for people. Never contains archived values.
    public let message: String
    /// How far the stream was read or written: bytes of whole frames, from the moment at which the sender or receiver
    /// was made.
    public let offset: Int
    /// How many messages were received or sent before.
    public let messageCount: Int
    /// The system's error number, if a system call failed.
    public let errorNumber: Int32?
    /// The archiver's or unarchiver's error, if that is the cause.
    public let cause: ArchiveError?

    init(
        _ code: Code,
        _ message: String,
        offset: Int = 0,
        messageCount: Int = 0,
        errorNumber: Int32? = nil,
        cause: ArchiveError? = nil
    ) {
        self.code = code
        self.message = message
        self.offset = offset
        self.messageCount = messageCount
        self.errorNumber = errorNumber
        self.cause = cause
    }

    /// The error for a system call that failed.
    init(system number: Int32, _ action: String) {
        switch number {
        case EPIPE, ECONNRESET:
            self.init(.disconnected, "the other side is gone", errorNumber: number)
        default:
            let text = String(cString: strerror(number))
            self.init(.io, "the stream cannot be \(action): \(text)", errorNumber: number)
        }
    }

    /// The same error at another place of the stream.
    func at(offset: Int, messageCount: Int) -> TransferError {
        TransferError(
            code,
            message,
            offset: offset,
            messageCount: messageCount,
            errorNumber: errorNumber,
            cause: cause
        )
    }
}

extension TransferError: CustomStringConvertible, LocalizedError {
    /// The code, the message, and how many messages and bytes came before.
    public var description: String {
        "\(code): \(message), after \(messageCount) \(messageCount == 1 ? "message" : "messages"), \(offset) bytes"
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

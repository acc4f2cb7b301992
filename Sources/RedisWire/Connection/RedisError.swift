/// Why commands have no answer. A server's refusal of one command is no such error, but a value: ``RedisValue/error(_:)``.
public struct RedisError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of the failure.
    public struct Code: Sendable, Hashable {
        private enum Kind {
            case notConnected, connectionLost, timeout, refused, malformed, cancelled, closed, forked
            case insecure, unsupported
        }
        private let kind: Kind

        /// There is no connection, and the next attempt is not due. The commands were not sent.
        public static let notConnected = Code(kind: .notConnected)
        /// The connection broke while the commands waited for it or for their answers.
        public static let connectionLost = Code(kind: .connectionLost)
        /// No answer came in time. The connection stays, and drops the answer when it comes.
        public static let timeout = Code(kind: .timeout)
        /// The server did not accept the connection: a wrong password, say, or a version without RESP3.
        public static let refused = Code(kind: .refused)
        /// The server sent bytes that are not RESP3, or a value above a limit.
        public static let malformed = Code(kind: .malformed)
        /// The task was cancelled.
        public static let cancelled = Code(kind: .cancelled)
        /// The client was closed: by `SharedTier.close()`, say.
        public static let closed = Code(kind: .closed)
        /// No connection can be encrypted as was asked for: the server's certificate is not accepted, say, or a file of
        /// certificates cannot be read. Nothing was sent.
        public static let insecure = Code(kind: .insecure)
        /// This build lacks a part that is asked for: TLS, without the package's trait of that name.
        public static let unsupported = Code(kind: .unsupported)
        /// The connection, or the thread for connections, belongs to the process that this one was forked from.
        public static let forked = Code(kind: .forked)
    }

    /// The kind of the failure.
    public let code: Code
    /// Whether the server may have executed the commands, or some of them.
    public let mayHaveRun: Bool
    /// A sentence for people, without arguments of commands, which may be secret.
    public let message: String

    /// - Parameter message: a sentence for people, without arguments of commands.
    public init(_ code: Code, mayHaveRun: Bool = false, _ message: String) {
        self.code = code
        self.mayHaveRun = mayHaveRun
        self.message = message
    }

    public var description: String { message }
}

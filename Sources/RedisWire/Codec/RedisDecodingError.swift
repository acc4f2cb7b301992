/// Bytes of a server that break the protocol or a limit. The stream cannot be read further.
public struct RedisDecodingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of the fault.
    public struct Code: Sendable, Hashable {
        private enum Kind { case malformed, tooLarge, tooDeep }
        private let kind: Kind

        /// Bytes that RESP3 does not allow there.
        public static let malformed = Code(kind: .malformed)
        /// A length, a count or a sum above its limit.
        public static let tooLarge = Code(kind: .tooLarge)
        /// More aggregates within one another than the limit allows.
        public static let tooDeep = Code(kind: .tooDeep)
    }

    /// The kind of the fault.
    public let code: Code
    /// A sentence for people. Never has the stream's bytes in it, which may be secret.
    public let message: String
    /// The distance of the faulty token from the beginning of the stream, in bytes.
    public let offset: UInt64

    public var description: String { "\(message) (byte \(offset) of the server's answers)" }
}

/// The limits of a decoder. Each holds for one value on the outermost level.
package struct RedisDecodingLimits: Sendable, Equatable {
    /// Aggregates within one another.
    package var depth = 16
    /// Bytes of one string.
    package var stringLength = 512 << 20
    /// Bytes of a line: a simple string, a simple error, a number.
    package var lineLength = 64 << 10
    /// Elements of all aggregates together, keys and values each counted.
    package var elements = 4 << 20
    /// Bytes of all strings and lines together.
    package var totalLength = 1 << 30

    package init() {}
}

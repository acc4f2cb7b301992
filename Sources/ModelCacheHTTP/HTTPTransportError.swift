import Foundation

/// Why a ``URLSessionTransport`` has no answer, where URLSession itself has not failed.
///
/// A fetch throws it as the `cause` of a `ModelCacheError` with code `.transport`.
public struct HTTPTransportError: Error, Sendable, Hashable {
    /// The kind of failure. New codes may be added: always keep a `default` when switching.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Base: String { case invalidURL, notHTTP, tooLarge }

        private let base: Base

        /// The request's path and the base make no URL of HTTP.
        public static let invalidURL = Code(base: .invalidURL)
        /// The answer is not HTTP.
        public static let notHTTP = Code(base: .notHTTP)
        /// The answer has more bytes than the transport takes.
        public static let tooLarge = Code(base: .tooLarge)

        /// The name of the code, such as `invalidURL`.
        public var description: String { base.rawValue }

        /// Whether an error has this code, for patterns: `catch HTTPTransportError.Code.tooLarge`.
        public static func ~= (code: Code, error: any Error) -> Bool {
            (error as? HTTPTransportError)?.code == code
        }
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and its remedy, for people. Never contains a URL, a header or a body.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension HTTPTransportError: CustomStringConvertible, LocalizedError {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
    /// The message.
    public var errorDescription: String? { message }
}

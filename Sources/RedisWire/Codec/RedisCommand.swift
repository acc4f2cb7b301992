/// A command and its arguments, all of them binary-safe.
///
/// ```swift
/// let command: RedisCommand = ["SET", "city:490", .bytes(entry), "PX", 60_000]
/// ```
public struct RedisCommand: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// One argument. Text is sent as UTF-8, numbers in decimal digits.
    public enum Argument: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case bytes([UInt8])
        case text(String)
        case integer(Int)

        public init(stringLiteral value: String) { self = .text(value) }
        public init(integerLiteral value: Int) { self = .integer(value) }

        /// The bytes as they are sent.
        public var encoded: [UInt8] {
            switch self {
            case .bytes(let bytes): bytes
            case .text(let text): Array(text.utf8)
            case .integer(let number): Array(String(number).utf8)
            }
        }
    }

    /// The command's name, then its arguments.
    public let arguments: [Argument]
    /// Whether the command may be sent again if a connection broke before its answer came: it then may be executed
    /// twice.
    public let isRepeatable: Bool

    public init(_ arguments: [Argument], isRepeatable: Bool = false) {
        self.arguments = arguments
        self.isRepeatable = isRepeatable
    }

    public init(arrayLiteral elements: Argument...) { self.init(elements) }

    /// The command's name, without its arguments, which may be secret.
    package var name: String {
        switch arguments.first {
        case .text(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): String(number)
        case nil: ""
        }
    }

    /// Whether the server confirms the command by messages, and gives no other answer.
    var isAnsweredByPush: Bool {
        let name = name
        // Each command is asked: most names are shorter.
        return (9...12).contains(name.utf8.count) && name.uppercased().hasSuffix("SUBSCRIBE")
    }
}

import Foundation

/// A value of the Redis serialization protocol, version 3 (RESP3); version 2 is a part of it.
///
/// Text of the server stays bytes where it may be binary: bulk and verbatim strings.
public enum RedisValue: Sendable, Equatable {
    /// No value: `_`, or `$-1` and `*-1` of RESP2.
    case null
    /// A short answer such as `OK`, on one line.
    case simple(String)
    /// A refusal by the server, on its own or within an aggregate.
    case error(RedisReplyError)
    case integer(Int64)
    case boolean(Bool)
    /// Not equal to itself when it is not a number.
    case double(Double)
    /// An integer of any length, in decimal digits with an optional sign.
    case bigNumber(String)
    case bulk([UInt8])
    /// Text with the three bytes that name its format, mostly `txt` or `mkd`.
    case verbatim(format: String, [UInt8])
    case array([RedisValue])
    /// Elements without order. The server promises that none comes twice; nothing here checks it.
    case set([RedisValue])
    /// Keys and values in the server's order.
    case map([RedisPair])
    /// A message that answers no command, such as an invalidation.
    case push([RedisValue])
    /// A value with data beside it. A decoder gives this only if it was told to keep attributes.
    indirect case attributed([RedisPair], RedisValue)

    /// The bytes of a string of any kind, else `nil`.
    public var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes), .verbatim(_, let bytes): bytes
        case .simple(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The text of a string of any kind, with wrong UTF-8 repaired, else `nil`.
    public var text: String? {
        if case .simple(let text) = self { return text }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The number, or that of a string of digits, else `nil`.
    public var integer: Int64? {
        if case .integer(let number) = self { return number }
        return text.flatMap { Int64($0) }
    }

    /// Whether it is a refusal.
    package var isError: Bool {
        if case .error = self { true } else { false }
    }

    /// The elements of an array, a set or a push, else `nil`.
    public var elements: [RedisValue]? {
        switch self {
        case .array(let elements), .set(let elements), .push(let elements): elements
        default: nil
        }
    }

    /// The pairs of a map, or of an array of keys and values in turn as RESP2 sends it, else `nil`.
    public var pairs: [RedisPair]? {
        switch self {
        case .map(let pairs): return pairs
        case .array(let elements) where elements.count.isMultiple(of: 2):
            return stride(from: 0, to: elements.count, by: 2).map {
                RedisPair(key: elements[$0], value: elements[$0 + 1])
            }
        default: return nil
        }
    }

    /// The value of the first pair of a map with this key, else `nil`.
    ///
    /// - Complexity: O(*n*) in the pairs.
    public func field(_ name: String) -> RedisValue? { pairs?.first { $0.key.text == name }?.value }
}

/// A key and a value of a map.
public struct RedisPair: Sendable, Equatable {
    public let key: RedisValue
    public let value: RedisValue

    public init(key: RedisValue, value: RedisValue) {
        self.key = key
        self.value = value
    }
}

/// A server's refusal: `-MOVED 3999 127.0.0.1:6381`.
public struct RedisReplyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The whole line, or the whole string of a bulk error.
    public let message: String

    public init(message: String) { self.message = message }

    /// The word in front: `MOVED`, `ERR`, `WRONGTYPE`.
    public var code: Substring { message.prefix { $0 != " " } }

    /// The message without arguments of the refused command, which may be secret: a server that does
    /// not know a command repeats its arguments.
    package var textWithoutArguments: Substring {
        message.range(of: ", with args").map { message[..<$0.lowerBound] } ?? message[...]
    }

    /// Whether the server does not know the command, or has been told to know it by another name.
    package var isOfUnknownCommand: Bool { message.hasPrefix("ERR unknown command") }

    public var description: String { message }
}

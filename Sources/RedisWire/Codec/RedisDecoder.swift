/// Reads RESP3 from bytes as they arrive.
///
/// ```
/// +OK␍␊   -ERR text␍␊   :1␍␊   ,1.5␍␊   #t␍␊   (123␍␊   _␍␊              one line
/// $3␍␊abc␍␊   !3␍␊ERR␍␊   =7␍␊txt:abc␍␊   $-1␍␊                         a length and so many bytes
/// *2␍␊…   ~2␍␊…   >2␍␊…   %1␍␊<key><value>   |1␍␊<key><value><value>    a count and so many values
/// $?␍␊;3␍␊abc␍␊;0␍␊   *?␍␊….␍␊                                          streamed: the end is marked
/// ```
///
/// A decoder keeps its place between calls, so each byte is looked at once wherever the stream is cut, and the values
/// are the same for each way of cutting. Memory grows with the bytes that have come, never with a length or a count
/// that a header announces. After an error each further call throws the same error.
package struct RedisDecoder {
    private let limits: RedisDecodingLimits
    private let keepsAttributes: Bool

    private var buffer: [UInt8] = []
    /// The first byte of the buffer that has not been read.
    private var position = 0
    /// Bytes after `position` that have no line feed.
    private var scanned = 0
    /// The offset in the stream of the buffer's first byte.
    private var base: UInt64 = 0

    private var frames: [Frame] = []
    private var string: PartialString?
    private var elements = 0
    private var length = 0
    private var failure: RedisDecodingError?

    package init(limits: RedisDecodingLimits = RedisDecodingLimits(), keepsAttributes: Bool = false) {
        self.limits = limits
        self.keepsAttributes = keepsAttributes
    }

    /// Whether the stream may end here without cutting a value; for tests.
    package var isAtBoundary: Bool { position == buffer.count && frames.isEmpty && string == nil }

    /// Takes the next bytes of the stream.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if position == buffer.count {
            base += UInt64(position)
            buffer.removeAll(keepingCapacity: true)
            position = 0
        } else if position >= 1 << 16 {
            base += UInt64(position)
            buffer.removeFirst(position)
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Takes the next bytes of the stream.
    package mutating func append(_ bytes: some Sequence<UInt8>) { Array(bytes).withUnsafeBytes { append($0) } }

    /// The next value of the outermost level, or `nil` if its bytes have not all come.
    package mutating func next() throws(RedisDecodingError) -> RedisValue? {
        if let failure { throw failure }
        do {
            return try advance()
        } catch {
            failure = error
            frames = []
            string = nil
            buffer = []
            position = 0
            throw error
        }
    }

    // MARK: - Tokens

    private mutating func advance() throws(RedisDecodingError) -> RedisValue? {
        while true {
            let finished: RedisValue?
            if string != nil {
                guard let value = try continueString() else { return nil }
                finished = value
            } else {
                guard position < buffer.count else { return nil }
                let type = buffer[position]
                let at = offset
                try check(type, at: at)
                guard let line = try takeLine(at: at) else { return nil }
                finished = try begin(type, line: line, at: at)
            }
            if let finished, let value = try place(finished) {
                elements = 0
                length = 0
                return value
            }
        }
    }

    private var offset: UInt64 { base + UInt64(position) }

    /// Refuses bytes that cannot begin a token here, before the rest of the line has come.
    private func check(_ type: UInt8, at offset: UInt64) throws(RedisDecodingError) {
        let frame = frames.last
        if frame?.kind == .chunks {
            if type != UInt8(ascii: ";") {
                throw malformed("A streamed string has a token that is not a chunk", offset)
            }
            return
        }
        switch type {
        case UInt8(ascii: "."):
            guard let frame, frame.remaining == nil, !frame.isOdd, frame.attributes.isEmpty, !frame.awaitsValue
            else {
                throw malformed("An end of a streamed aggregate where none can end", offset)
            }
        case UInt8(ascii: ">"):
            if let frame, frame.kind != .holder { throw malformed("A push within another value", offset) }
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "#"),
            UInt8(ascii: "("), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="),
            UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: "|"):
            break
        default:
            throw malformed("No type of RESP3 begins with byte \(type)", offset)
        }
    }

    /// The bytes between the type and the line's end, without them; `nil` if the end has not come.
    private mutating func takeLine(at offset: UInt64) throws(RedisDecodingError) -> Range<Int>? {
        let start = position + 1
        let from = max(start, position + scanned)
        guard let end = buffer[from...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = buffer.count - position
            if buffer.count - start > limits.lineLength + 1 { throw tooLarge("A line", offset) }
            return nil
        }
        scanned = 0
        if end - start > limits.lineLength + 1 { throw tooLarge("A line", offset) }
        guard end > start, buffer[end - 1] == UInt8(ascii: "\r"),
            buffer[start..<(end - 1)].firstIndex(of: UInt8(ascii: "\r")) == nil
        else { throw malformed("A line does not end with carriage return and line feed", offset) }
        position = end + 1
        return start..<(end - 1)
    }

    /// Begins or finishes the value of one line.
    ///
    /// - Returns: the value, or `nil` if more belongs to it.
    private mutating func begin(
        _ type: UInt8,
        line: Range<Int>,
        at offset: UInt64
    ) throws(RedisDecodingError) -> RedisValue? {
        switch type {
        case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
            if buffer[line].elementsEqual([UInt8(ascii: "?")]), type == UInt8(ascii: "$") {
                try push(Frame(kind: .chunks, remaining: nil), at: offset)
                return nil
            }
            guard let count = try count(line, nullable: type == UInt8(ascii: "$"), at: offset) else { return .null }
            try charge(count, at: offset)
            string = PartialString(type: type, missing: count, offset: offset)
            return nil
        case UInt8(ascii: ";"):
            guard let count = try count(line, nullable: false, at: offset) else { return nil }
            if count == 0 { return .bulk(frames.removeLast().bytes) }
            try charge(count, at: offset)
            if frames[frames.count - 1].bytes.count + count > limits.stringLength {
                throw tooLarge("A streamed string", offset)
            }
            string = PartialString(type: type, missing: count, offset: offset)
            return nil
        case UInt8(ascii: "*"): return try beginAggregate(.array, line: line, at: offset)
        case UInt8(ascii: "~"): return try beginAggregate(.set, line: line, at: offset)
        case UInt8(ascii: ">"): return try beginAggregate(.push, line: line, at: offset)
        case UInt8(ascii: "%"): return try beginAggregate(.map, line: line, at: offset)
        case UInt8(ascii: "|"): return try beginAggregate(.attributes, line: line, at: offset)
        case UInt8(ascii: "."):
            if !line.isEmpty { throw malformed("An end of a streamed aggregate with more in its line", offset) }
            return frames.removeLast().value
        default:
            try charge(line.count, at: offset)
            guard let scalar = RedisValue(scalar: type, text: buffer[line]) else {
                throw malformed("A scalar that cannot be read", offset)
            }
            return scalar
        }
    }

    private mutating func beginAggregate(
        _ kind: Frame.Kind,
        line: Range<Int>,
        at offset: UInt64
    ) throws(RedisDecodingError) -> RedisValue? {
        if buffer[line].elementsEqual([UInt8(ascii: "?")]), kind != .push, kind != .attributes {
            try push(Frame(kind: kind, remaining: nil), at: offset)
            return nil
        }
        guard let count = try count(line, nullable: kind == .array, at: offset) else { return .null }
        let isPaired = kind == .map || kind == .attributes
        // The count is below the limit of elements, so that twice of it is a number.
        if count > limits.elements { throw tooLarge("A count of elements", offset) }
        let values = isPaired ? 2 * count : count
        elements += values
        if elements > limits.elements { throw tooLarge("The count of all elements of a value", offset) }
        if kind == .push, count == 0 { throw malformed("A push without a kind", offset) }
        try push(Frame(kind: kind, remaining: values), at: offset)
        if values > 0 { return nil }
        let frame = frames.removeLast()
        if kind == .attributes {
            expectValue(after: frame)
            return nil
        }
        return frame.value
    }

    private mutating func push(_ frame: Frame, at offset: UInt64) throws(RedisDecodingError) {
        // The frame of attributes without an aggregate around them is no level of its own.
        if frames.count >= limits.depth {
            throw RedisDecodingError(
                code: .tooDeep,
                message: "More than \(limits.depth) aggregates within one another",
                offset: offset
            )
        }
        frames.append(frame)
    }

    // MARK: - Strings

    /// Moves bytes that have come into the string under way.
    ///
    /// - Returns: the string, or a value that needs no place (`nil` inside) for a chunk; `nil` if bytes are missing.
    private mutating func continueString() throws(RedisDecodingError) -> RedisValue?? {
        let part = min(string!.missing, buffer.count - position)
        if part > 0 {
            string!.bytes.append(contentsOf: buffer[position..<(position + part)])
            string!.missing -= part
            position += part
        }
        guard string!.missing == 0, buffer.count - position >= 2 else { return nil }
        guard buffer[position] == UInt8(ascii: "\r"), buffer[position + 1] == UInt8(ascii: "\n") else {
            throw malformed("A string is longer than its length", string!.offset)
        }
        position += 2
        let done = string!
        string = nil
        switch done.type {
        case UInt8(ascii: ";"):
            frames[frames.count - 1].bytes.append(contentsOf: done.bytes)
            return .some(nil)
        case UInt8(ascii: "!"):
            return .error(RedisReplyError(message: String(decoding: done.bytes, as: UTF8.self)))
        case UInt8(ascii: "="):
            guard done.bytes.count >= 4, done.bytes[3] == UInt8(ascii: ":"),
                let format = String(validating: done.bytes[..<3], as: UTF8.self)
            else { throw malformed("A verbatim string without its format", done.offset) }
            return .verbatim(format: format, Array(done.bytes[4...]))
        default: return .bulk(done.bytes)
        }
    }

    /// The length or count of a header; `nil` for -1 where RESP2 has its null.
    private func count(
        _ line: Range<Int>,
        nullable: Bool,
        at offset: UInt64
    ) throws(RedisDecodingError) -> Int? {
        if nullable, buffer[line].elementsEqual([UInt8(ascii: "-"), UInt8(ascii: "1")]) { return nil }
        // 18 digits are below 2^63.
        guard (1...18).contains(line.count) else { throw malformed("A length that is not a number", offset) }
        var number = 0
        for byte in buffer[line] {
            guard (0x30...0x39).contains(byte) else { throw malformed("A length that is not a number", offset) }
            number = 10 * number + Int(byte - 0x30)
        }
        return number
    }

    private mutating func charge(_ count: Int, at offset: UInt64) throws(RedisDecodingError) {
        if count > limits.stringLength { throw tooLarge("A string", offset) }
        length += count
        if length > limits.totalLength { throw tooLarge("The length of all strings of a value", offset) }
    }

    // MARK: - Places

    /// Puts a value where it belongs, and closes the aggregates that it fills.
    ///
    /// - Returns: the value of the outermost level, once it is whole.
    private mutating func place(_ finished: RedisValue) throws(RedisDecodingError) -> RedisValue? {
        var value = finished
        while let last = frames.indices.last {
            if !frames[last].attributes.isEmpty {
                value = .attributed(frames[last].attributes, value)
                frames[last].attributes = []
            }
            frames[last].awaitsValue = false
            if frames[last].kind == .holder {
                frames.removeLast()
                continue
            }
            frames[last].items.append(value)
            guard let remaining = frames[last].remaining else {
                elements += 1
                if elements > limits.elements { throw tooLarge("The count of all elements of a value", offset) }
                return nil
            }
            frames[last].remaining = remaining - 1
            if remaining > 1 { return nil }
            let frame = frames.removeLast()
            if frame.kind == .attributes {
                expectValue(after: frame)
                return nil
            }
            value = frame.value
        }
        return value
    }

    /// Remembers attributes until the value that they belong to has come.
    private mutating func expectValue(after attributes: Frame) {
        // On the outermost level a frame stands for the value.
        if frames.isEmpty { frames.append(Frame(kind: .holder, remaining: 1)) }
        let last = frames.count - 1
        frames[last].awaitsValue = true
        if keepsAttributes { frames[last].attributes += attributes.pairs }
    }

    private func malformed(_ message: String, _ offset: UInt64) -> RedisDecodingError {
        RedisDecodingError(code: .malformed, message: message + ".", offset: offset)
    }

    private func tooLarge(_ thing: String, _ offset: UInt64) -> RedisDecodingError {
        RedisDecodingError(code: .tooLarge, message: "\(thing) is above its limit.", offset: offset)
    }
}

/// A string with bytes that have not come.
private struct PartialString {
    let type: UInt8
    var missing: Int
    let offset: UInt64
    var bytes: [UInt8] = []
}

/// An aggregate with elements that have not come.
private struct Frame {
    enum Kind { case array, set, push, map, attributes, chunks, holder }

    let kind: Kind
    /// The values that are missing; `nil` if the stream will mark the end.
    var remaining: Int?
    var items: [RedisValue] = []
    /// The chunks of a streamed string.
    var bytes: [UInt8] = []
    /// The attributes of the next element.
    var attributes: [RedisPair] = []
    /// Whether attributes came last, so that an element must follow.
    var awaitsValue = false

    init(kind: Kind, remaining: Int?) {
        self.kind = kind
        self.remaining = remaining
    }

    /// Whether a key of a map waits for its value.
    var isOdd: Bool { kind == .map && !items.count.isMultiple(of: 2) }

    var pairs: [RedisPair] {
        stride(from: 0, to: items.count - 1, by: 2).map { RedisPair(key: items[$0], value: items[$0 + 1]) }
    }

    var value: RedisValue {
        switch kind {
        case .set: .set(items)
        case .push: .push(items)
        case .map: .map(pairs)
        default: .array(items)
        }
    }
}

import KeyedArchive

/// A strict parser for one JSON text (RFC 8259), fast on short ones.
///
/// - A number without fraction and exponent is an `Int64`, above that a `UInt64`; beyond both it is an error. `-0` is a
///   double, which keeps its sign so. Every other number is the nearest double; one that no finite double is near is an
///   error.
/// - A name that occurs twice in an object is an error: whichever value won, the other one would be lost.
/// - Half a surrogate pair is an error, since no Unicode text can hold it.
/// - Values are put one after another into two arrays, which hold them without an object for each.
/// - On any bytes, it returns or throws, and its limits bound the memory that it allocates.
struct JSONParser {
    let limits: RecordLimits
    var position = 0
    /// The values so far: their text is a copy of the bytes, with strings that have escapes put in their own place.
    var values = PlainValues()
    private var valuesLeft = 0
    private var expectedNames = ExpectedNames()
    /// How many items the value before had: the next one most likely has as many.
    private var expectedItems = 0

    init(limits: RecordLimits = RecordLimits()) {
        self.limits = limits
    }

    /// Parses all of `bytes` as one value.
    mutating func parse(_ bytes: Span<UInt8>) throws(JSONError) -> RecordValue {
        RecordValue(try plainValues(bytes))
    }

    /// Parses all of `bytes` as one value.
    mutating func plainValues(_ bytes: Span<UInt8>) throws(JSONError) -> PlainValues {
        position = 0
        valuesLeft = limits.values
        values = PlainValues()
        defer { values = PlainValues() }
        values.text = bytes.withUnsafeBufferPointer { Array($0) }
        values.items.reserveCapacity(expectedItems)
        skipSpace(bytes)
        try value(bytes, depth: 0)
        skipSpace(bytes)
        guard position == bytes.count else { throw error(.textAfterValue) }
        expectedItems = min(values.items.count, 1_024)
        return values
    }

    /// Parses all of `bytes` as one record.
    mutating func outcome(_ bytes: Span<UInt8>, line: Int) -> RecordOutcome {
        do throws(JSONError) {
            let values = try plainValues(bytes)
            guard values.items[0].kind == .object else {
                return .bad(BadRecord(line: line, reason: .notAnObject(found: RecordKind(values.items[0]))))
            }
            return .record(.parsed(ParsedRecord(values: values)), line: line)
        } catch {
            return .bad(BadRecord(line: line, reason: .json(error)))
        }
    }

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw error(.tooManyValues) }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            position += 1
            values.items.append(try string(bytes))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            values.items.append(try number(bytes))
        case UInt8(ascii: "{"):
            try object(bytes, depth: depth + 1)
        case UInt8(ascii: "["):
            try array(bytes, depth: depth + 1)
        case UInt8(ascii: "t"):
            try literal("true", bytes)
            values.items.append(.bool(true))
        case UInt8(ascii: "f"):
            try literal("false", bytes)
            values.items.append(.bool(false))
        case UInt8(ascii: "n"):
            try literal("null", bytes)
            values.items.append(.null)
        default:
            throw error(.unexpectedByte)
        }
    }

    private mutating func literal(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        let count = word.utf8CodeUnitCount
        let start = position
        for index in 0..<count {
            guard start + index < bytes.count else { throw error(.unexpectedEnd) }
            guard bytes[start + index] == word.utf8Start[index] else { throw error(.badLiteral) }
        }
        position = start + count
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard depth <= limits.depth else { throw error(.tooDeep) }
        position += 1
        skipSpace(bytes)
        let place = values.items.count
        values.items.append(.array(count: 0, end: place + 1))
        if try take(UInt8(ascii: "]"), bytes) { return }
        var count = 0
        while true {
            try value(bytes, depth: depth)
            count += 1
            skipSpace(bytes)
            if try take(UInt8(ascii: "]"), bytes) { break }
            guard try take(UInt8(ascii: ","), bytes) else { throw error(.expectedCommaOrEnd) }
            skipSpace(bytes)
        }
        values.items[place] = .array(count: count, end: values.items.count)
    }

    private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard depth <= limits.depth else { throw error(.tooDeep) }
        position += 1
        skipSpace(bytes)
        let place = values.items.count
        values.items.append(.object(count: 0, end: place + 1))
        if try take(UInt8(ascii: "}"), bytes) { return }
        var names = JSONNames()
        var isExpected = place == 0
        var count = 0
        while true {
            let start = position
            guard try take(UInt8(ascii: "\""), bytes) else { throw error(.expectedName) }
            if isExpected, let name = expectedNames.match(count, in: bytes, at: position) {
                position += Int(name.count) + 1
                values.items.append(name)
            } else {
                isExpected = false
                values.items.append(try string(bytes))
                guard names.insertLast(in: values, after: count, from: place + 1) else {
                    throw JSONError(code: .duplicateName, offset: start)
                }
            }
            skipSpace(bytes)
            guard try take(UInt8(ascii: ":"), bytes) else { throw error(.expectedColon) }
            skipSpace(bytes)
            try value(bytes, depth: depth)
            count += 1
            skipSpace(bytes)
            if try take(UInt8(ascii: "}"), bytes) { break }
            guard try take(UInt8(ascii: ","), bytes) else { throw error(.expectedCommaOrEnd) }
            skipSpace(bytes)
        }
        values.items[place] = .object(count: count, end: values.items.count)
        if place == 0, !isExpected || count != expectedNames.count { expectedNames = ExpectedNames(of: values) }
    }

    /// Steps over `byte` if it is the next one.
    private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) -> Bool {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        guard bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    func error(_ code: JSONError.Code) -> JSONError {
        JSONError(code: code, offset: position)
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    static func isBlank(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices where !isSpace(bytes[index]) { return false }
        return true
    }
}

/// Why a text is not JSON, and where.
struct JSONError: Error, Sendable, Equatable {
    enum Code: Sendable, Equatable, CaseIterable {
        case unexpectedEnd
        case unexpectedByte
        case expectedName
        case expectedColon
        case expectedCommaOrEnd
        case textAfterValue
        case badLiteral
        case badNumber
        case numberOutOfRange
        case integerOutOfRange
        case controlCharacter
        case badEscape
        case loneSurrogate
        case invalidUTF8
        case duplicateName
        case tooDeep
        case tooManyValues

        /// The fault in words, to stand after a colon.
        var phrase: String {
            switch self {
            case .unexpectedEnd: "the JSON ends too early"
            case .unexpectedByte: "a JSON value was expected here"
            case .expectedName: "a name in double quotes was expected here"
            case .expectedColon: "a colon was expected here"
            case .expectedCommaOrEnd: "a comma or a closing bracket was expected here"
            case .textAfterValue: "text follows the JSON value"
            case .badLiteral: "this is neither true, false nor null"
            case .badNumber: "this is not a JSON number"
            case .numberOutOfRange: "this number is too large"
            case .integerOutOfRange:
                "this whole number takes more than 64 bits; write it as a string, or as a decimal such as 1.5e20"
            case .controlCharacter: "a control character in a string must be escaped"
            case .badEscape: "this escape sequence is not JSON"
            case .loneSurrogate: "half of a surrogate pair is missing"
            case .invalidUTF8: "this string is not UTF-8"
            case .duplicateName: "this name occurs twice in the object"
            case .tooDeep: "arrays and objects are nested too deeply"
            case .tooManyValues: "the record has too many values"
            }
        }
    }

    let code: Code
    /// The index of the byte at which it showed.
    let offset: Int
}

/// Reads a text of JSON into a table of its values, if it is usual: strict JSON (RFC 8259) in UTF-8, not too deep, with
/// names that are plain and differ. Of strings and numbers, it checks the ends; they are read when they are asked for.
///
/// Each value takes at least two bytes of the text and 16 of the table, so the table is bounded by the text.
struct JSONReader {
    private static let depthLimit = 128

    /// The values: elements and members of one container are neighbours. The first one is a null that is in no text, the
    /// last one is the whole text.
    private(set) var items = [JSONItem.null]
    private(set) var shapes: JSONShapes
    /// Values whose container is not at its end yet.
    private var open: [JSONItem] = []
    private var position = 0

    init(_ shapes: JSONShapes) { self.shapes = shapes }

    /// - Parameter bytes: the text, with a zero after it.
    mutating func read(_ bytes: Span<UInt8>) throws(UnclearJSON) {
        guard bytes.count < Int(UInt32.max) else { throw UnclearJSON() }
        skipSpace(bytes)
        items.append(try value(bytes, depth: 0))
        skipSpace(bytes)
        guard position == bytes.count - 1 else { throw UnclearJSON() }
    }

    // The zero ends every loop below: it is part of no token.

    private mutating func value(_ bytes: Span<UInt8>, depth: Int) throws(UnclearJSON) -> JSONItem {
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string(bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(bytes)
        case UInt8(ascii: "{"): return try object(bytes, depth: depth + 1)
        case UInt8(ascii: "["): return try array(bytes, depth: depth + 1)
        case UInt8(ascii: "t"): return try word("true", is: .yes, bytes)
        case UInt8(ascii: "f"): return try word("false", is: .no, bytes)
        case UInt8(ascii: "n"): return try word("null", is: .null, bytes)
        default: throw UnclearJSON()
        }
    }

    private mutating func word(
        _ word: StaticString,
        is kind: JSONItem.Kind,
        _ bytes: Span<UInt8>
    ) throws(UnclearJSON) -> JSONItem {
        guard word.utf8CodeUnitCount < bytes.count - position else { throw UnclearJSON() }
        for offset in 0..<word.utf8CodeUnitCount where bytes[position + offset] != word.utf8Start[offset] {
            throw UnclearJSON()
        }
        position += word.utf8CodeUnitCount
        return JSONItem(kind)
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(UnclearJSON) -> JSONItem {
        let start = position + 1
        var end = start
        var isPlain = true
        var seen: UInt8 = 0
        while bytes[end] != UInt8(ascii: "\"") {
            if bytes[end] == UInt8(ascii: "\\") {
                isPlain = false
                end = try Self.lastByte(ofEscapeAt: end, bytes)
            }
            guard bytes[end] >= 0x20 else { throw UnclearJSON() }
            seen |= bytes[end]
            end += 1
        }
        position = end + 1
        return JSONItem(.string, isPlain: isPlain, isASCII: seen < 0x80, start: start, count: end - start)
    }

    /// Where an escape ends. Also in strings that are never asked for, `JSONDecoder` refuses a backslash without an escape.
    private static func lastByte(ofEscapeAt start: Int, _ bytes: Span<UInt8>) throws(UnclearJSON) -> Int {
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 1
        case UInt8(ascii: "u"):
            for index in start + 2..<start + 6 {
                // The zero after the text is not a digit, so that none is read after that.
                guard isDigit(bytes[index]) || (bytes[index] | 0x20) &- UInt8(ascii: "a") < 6 else {
                    throw UnclearJSON()
                }
            }
            return start + 5
        default: throw UnclearJSON()
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(UnclearJSON) -> JSONItem {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if bytes[position] == UInt8(ascii: "0") {
            position += 1
        } else {
            try skipDigits(bytes)
        }
        var isPlain = true
        if bytes[position] == UInt8(ascii: ".") {
            isPlain = false
            position += 1
            try skipDigits(bytes)
        }
        if bytes[position] | 0x20 == UInt8(ascii: "e") {
            isPlain = false
            position += 1
            if bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
            try skipDigits(bytes)
        }
        return JSONItem(.number, isPlain: isPlain, start: start, count: position - start)
    }

    private mutating func skipDigits(_ bytes: Span<UInt8>) throws(UnclearJSON) {
        let start = position
        while Self.isDigit(bytes[position]) { position += 1 }
        guard position > start else { throw UnclearJSON() }
    }

    private mutating func array(_ bytes: Span<UInt8>, depth: Int) throws(UnclearJSON) -> JSONItem {
        guard depth <= Self.depthLimit else { throw UnclearJSON() }
        let first = open.count
        position += 1
        skipSpace(bytes)
        if bytes[position] == UInt8(ascii: "]") {
            position += 1
            return JSONItem(.array)
        }
        while true {
            open.append(try value(bytes, depth: depth))
            skipSpace(bytes)
            if bytes[position] == UInt8(ascii: "]") { break }
            try skipComma(bytes)
        }
        position += 1
        let start = close(from: first)
        return JSONItem(.array, start: start, count: items.count - start)
    }

    private mutating func object(_ bytes: Span<UInt8>, depth: Int) throws(UnclearJSON) -> JSONItem {
        guard depth <= Self.depthLimit else { throw UnclearJSON() }
        let first = open.count
        position += 1
        skipSpace(bytes)
        if bytes[position] == UInt8(ascii: "}") {
            position += 1
            return JSONItem(.object)
        }
        var shape = 0
        while true {
            guard bytes[position] == UInt8(ascii: "\"") else { throw UnclearJSON() }
            position += 1
            shape = try shapes.longer(shape, in: bytes, at: &position)
            skipSpace(bytes)
            guard bytes[position] == UInt8(ascii: ":") else { throw UnclearJSON() }
            position += 1
            skipSpace(bytes)
            open.append(try value(bytes, depth: depth))
            skipSpace(bytes)
            if bytes[position] == UInt8(ascii: "}") { break }
            try skipComma(bytes)
        }
        position += 1
        let start = close(from: first)
        return JSONItem(.object, start: start, count: items.count - start, shape: shape)
    }

    /// Moves the values of a container that has ended to the table.
    ///
    /// - Returns: the index of the first one.
    private mutating func close(from first: Int) -> Int {
        let start = items.count
        items.append(contentsOf: open[first...])
        open.removeSubrange(first...)
        return start
    }

    private mutating func skipComma(_ bytes: Span<UInt8>) throws(UnclearJSON) {
        guard bytes[position] == UInt8(ascii: ",") else { throw UnclearJSON() }
        position += 1
        skipSpace(bytes)
    }

    @inline(__always)
    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while bytes[position] <= 0x20, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}

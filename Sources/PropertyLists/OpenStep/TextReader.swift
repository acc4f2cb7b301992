/// Reads a property list in OpenStep's or GNUstep's text, UTF-8 that was checked, into a table of nodes.
///
///     (a, b)   {k = v; k;}   <0fbd77>   "text" 'text' text   // and /* comments */
///     <*I5> <*R1.5> <*BY> <*D2001-01-01 00:00:00 +0000> <[base64]>   GNUstep's
///
/// A file of `k = v;` without braces is a dictionary, as in `.strings` files.
struct TextReader: ~Copyable {
    private var builder: NodeBuilder
    private let source: ByteView
    private let depthLimit: Int
    private var at = 0
    private var depth = 0
    private var isTyped = false

    static func read(_ bytes: [UInt8], limits: PropertyListLimits) throws(PropertyListError) -> NodeTable {
        try ByteView.with(bytes) { source throws(PropertyListError) in
            var reader = TextReader(source, limits: limits)
            try reader.document()
            let format: PropertyListFormat = reader.isTyped ? .gnuStep : .openStep
            return NodeTable(reader.builder, format: format)
        }
    }

    private init(_ source: ByteView, limits: PropertyListLimits) {
        self.source = source
        builder = NodeBuilder(source, limits: limits)
        depthLimit = limits.depth
    }

    private mutating func document() throws(PropertyListError) {
        try skipSpace()
        guard at < source.count else {
            _ = try builder.append(Node(.dictionary, offset: at))
            return
        }
        let first = source[at]
        let start = at
        if first == 0x28 || first == 0x7B || first == 0x3C {
            _ = try value()
            try skipSpace()
        } else {
            _ = try string()
            try skipSpace()
            if at < source.count {
                // The string was the first key.
                at = start
                builder.removeAll()
                try dictionary(isBraced: false)
            }
        }
        guard at == source.count else { throw failure("text behind the property list") }
    }

    private func failure(_ message: String, at offset: Int? = nil) -> PropertyListError {
        PropertyListError(.corrupted, message, offset: offset ?? at)
    }

    /// Skips white space, U+2028 and U+2029 too, and comments.
    @inline(__always)
    private mutating func skipSpace() throws(PropertyListError) {
        while at < source.count {
            let byte = source[at]
            if byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) {
                at &+= 1
            } else if byte == 0x2F || byte == 0xE2 {
                guard try skipComment() else { return }
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(PropertyListError) -> Bool {
        if source[at] == 0xE2 {
            guard at + 2 < source.count, source[at + 1] == 0x80, source[at + 2] == 0xA8 || source[at + 2] == 0xA9
            else {
                return false
            }
            at += 3
            return true
        }
        guard at + 1 < source.count else { return false }
        switch source[at + 1] {
        case 0x2F:
            while at < source.count, source[at] != 0x0A, source[at] != 0x0D { at += 1 }
            return true
        case 0x2A:
            let start = at
            at += 2
            while at + 1 < source.count, source[at] != 0x2A || source[at + 1] != 0x2F { at += 1 }
            guard at + 1 < source.count else { throw failure("comment without an end", at: start) }
            at += 2
            return true
        default: return false
        }
    }

    private mutating func value() throws(PropertyListError) -> Int {
        switch source[at] {
        case 0x7B:
            try enter()
            let container = try dictionary(isBraced: true)
            depth -= 1
            return container
        case 0x28:
            try enter()
            let container = try array()
            depth -= 1
            return container
        case 0x3C: return try angled()
        default: return try string()
        }
    }

    private mutating func enter() throws(PropertyListError) {
        try PropertyListLimits.check(depth: depth, limit: depthLimit, offset: at)
        depth += 1
    }

    private mutating func array() throws(PropertyListError) -> Int {
        let container = try builder.append(Node(.array, offset: at))
        let start = at
        at &+= 1
        var last: Int?
        var count = 0
        while true {
            try skipSpace()
            guard at < source.count else { throw failure("array without an end", at: start) }
            if source[at] == 0x29 { break }
            let member = try value()
            builder.link(member, to: container, after: last)
            last = member
            count &+= 1
            try skipSpace()
            guard at < source.count else { throw failure("array without an end", at: start) }
            if source[at] == 0x29 { break }
            guard source[at] == 0x2C else { throw failure("',' or ')' expected") }
            at &+= 1
        }
        at &+= 1
        builder.setCount(count, of: container)
        return container
    }

    @discardableResult
    private mutating func dictionary(isBraced: Bool) throws(PropertyListError) -> Int {
        let start = at
        let container = try builder.append(Node(.dictionary, offset: at))
        if isBraced { at &+= 1 }
        var last: Int?
        var count = 0
        while true {
            try skipSpace()
            guard at < source.count else {
                if isBraced { throw failure("dictionary without an end", at: start) }
                break
            }
            if isBraced, source[at] == 0x7D {
                at &+= 1
                break
            }
            let key = try string()
            builder.shareText(ofKey: key)
            builder.link(key, to: container, after: last)
            try skipSpace()
            guard at < source.count else { throw failure("';' expected") }
            let member: Int
            if source[at] == 0x3D {
                at &+= 1
                try skipSpace()
                guard at < source.count else { throw failure("value expected") }
                member = try value()
                try skipSpace()
            } else {
                // `key;` has its key as value.
                let name = builder.nodes[key]
                member = try builder.append(
                    Node(.string, offset: Int(name.offset), payload: name.payload, count: name.length)
                )
            }
            guard at < source.count, source[at] == 0x3B else { throw failure("';' expected") }
            at &+= 1
            builder.link(member, to: container, after: key)
            last = member
            count &+= 1
        }
        builder.setCount(count, of: container)
        return container
    }

    // MARK: Strings

    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x41...0x5A, 0x2D...0x3A, 0x5F, 0x24: true
        default: false
        }
    }

    @inline(__always)
    private mutating func string() throws(PropertyListError) -> Int {
        let start = at
        let first = source[at]
        if first == 0x22 || first == 0x27 { return try quoted(first) }
        while at < source.count, Self.isPlain(source[at]) { at &+= 1 }
        guard at > start else { throw failure("unexpected character") }
        return try builder.append(Node(.string, offset: start, payload: UInt64(start), count: at &- start))
    }

    private mutating func quoted(_ quote: UInt8) throws(PropertyListError) -> Int {
        let start = at
        at &+= 1
        while at < source.count, source[at] != quote, source[at] != 0x5C { at &+= 1 }
        guard at < source.count else { throw failure("string without an end", at: start) }
        if source[at] == quote {
            at &+= 1
            let count = at &- start &- 2
            return try builder.append(Node(.string, offset: start, payload: UInt64(start &+ 1), count: count))
        }
        let first = builder.bytes.count
        builder.bytes.append(source.part(start + 1..<at))
        while true {
            let run = at
            while at < source.count, source[at] != quote, source[at] != 0x5C { at &+= 1 }
            builder.bytes.append(source.part(run..<at))
            guard at < source.count else { throw failure("string without an end", at: start) }
            if source[at] == quote { break }
            try escape(start)
        }
        at += 1
        return try builder.append(
            Node(.string, offset: start, payload: UInt64(first), count: builder.bytes.count - first)
        )
    }

    private mutating func escape(_ start: Int) throws(PropertyListError) {
        let place = at
        at += 1
        guard at < source.count else { throw failure("string without an end", at: start) }
        let byte = source[at]
        at += 1
        switch byte {
        case 0x61: builder.bytes.append(0x07)
        case 0x62: builder.bytes.append(0x08)
        case 0x66: builder.bytes.append(0x0C)
        case 0x6E: builder.bytes.append(0x0A)
        case 0x72: builder.bytes.append(0x0D)
        case 0x74: builder.bytes.append(0x09)
        case 0x76: builder.bytes.append(0x0B)
        case 0x30...0x37:
            var value = Int(byte - 0x30)
            for _ in 0..<2 where at < source.count && source[at] >= 0x30 && source[at] <= 0x37 {
                value = value * 8 + Int(source[at] - 0x30)
                at += 1
            }
            append(NeXTSTEP.scalar(UInt8(truncatingIfNeeded: value)))
        // A small letter, too, as other readers than Foundation; without a digit it is a letter.
        case 0x55,
            0x75 where at < source.count && hexadecimalDigit(source[at]) != nil:
            at = place
            let unit = unit()!
            if UTF16.isLeadSurrogate(unit), let trail = self.unit(), UTF16.isTrailSurrogate(trail) {
                append(Unicode.Scalar(0x1_0000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF)!)
            } else if let scalar = Unicode.Scalar(unit) {
                append(scalar)
            } else {
                throw failure("half of a surrogate pair", at: place)
            }
        // Also a line break: the string goes on in the next line with it.
        default:
            builder.bytes.append(byte)
        }
    }

    /// Reads `\U` and up to four hexadecimal digits.
    private mutating func unit() -> UInt16? {
        guard at + 1 < source.count, source[at] == 0x5C, source[at + 1] == 0x55 || source[at + 1] == 0x75 else {
            return nil
        }
        at += 2
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard at < source.count, let digit = hexadecimalDigit(source[at]) else { break }
            value = value << 4 | UInt16(digit)
            at += 1
        }
        return value
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        for byte in UTF8.encode(scalar)! { builder.bytes.append(byte) }
    }

    // MARK: Data and GNUstep's types

    private mutating func angled() throws(PropertyListError) -> Int {
        let start = at
        at += 1
        guard at < source.count else { throw failure("'<' without an end", at: start) }
        if source[at] == 0x2A || source[at] == 0x5B {
            isTyped = true
            let kind = source[at]
            at += 1
            let first = at
            while at < source.count, source[at] != 0x3E { at += 1 }
            guard at < source.count else { throw failure("'<' without an end", at: start) }
            let range = first..<at
            at += 1
            return kind == 0x2A ? try typed(range, start) : try base64(range, start)
        }
        let first = builder.bytes.count
        var high: UInt8?
        while true {
            guard at < source.count else { throw failure("data without an end", at: start) }
            let byte = source[at]
            if let digit = hexadecimalDigit(byte) {
                if let before = high {
                    builder.bytes.append(before << 4 | digit)
                    high = nil
                } else {
                    high = digit
                }
                at += 1
            } else if byte == 0x3E {
                break
            } else {
                let before = at
                try skipSpace()
                guard at > before else { throw failure("character that is not a hexadecimal digit") }
            }
        }
        guard high == nil else { throw failure("data with half a byte", at: start) }
        at += 1
        return try builder.append(
            Node(.data, offset: start, payload: UInt64(first), count: builder.bytes.count - first)
        )
    }

    private mutating func base64(_ range: Range<Int>, _ start: Int) throws(PropertyListError) -> Int {
        guard range.upperBound > range.lowerBound, source[range.upperBound - 1] == 0x5D else {
            throw failure("']' expected", at: range.upperBound)
        }
        let first = builder.bytes.count
        try Base64.decode(source, range.lowerBound..<range.upperBound - 1, into: &builder.bytes)
        return try builder.append(
            Node(.data, offset: start, payload: UInt64(first), count: builder.bytes.count - first)
        )
    }

    private mutating func typed(_ range: Range<Int>, _ start: Int) throws(PropertyListError) -> Int {
        guard !range.isEmpty else { throw failure("type without a value", at: start) }
        var rest = range.lowerBound + 1..<range.upperBound
        // GNUstep may quote the value.
        if rest.count >= 2, source[rest.lowerBound] == 0x22, source[rest.upperBound - 1] == 0x22 {
            rest = rest.lowerBound + 1..<rest.upperBound - 1
        }
        guard !rest.isEmpty else { throw failure("type without a value", at: start) }
        switch source[range.lowerBound] {
        case 0x49: return try builder.append(XMLScalar.integer(rest, in: source, offset: start))
        case 0x52:
            let number = try XMLScalar.real(rest, in: source, offset: start)
            return try builder.append(Node(.real, offset: start, payload: number.bitPattern))
        case 0x42 where rest.count == 1 && (source[rest.lowerBound] == 0x59 || source[rest.lowerBound] == 0x4E):
            return try builder.append(Node(.bool, offset: start, payload: source[rest.lowerBound] == 0x59 ? 1 : 0))
        case 0x44:
            let date = try Self.date(
                source.part(rest).text,
                start
            )
            return try builder.append(Node(.date, offset: start, payload: date.bitPattern))
        default: throw failure("unknown type", at: start)
        }
    }

    /// Seconds since 2001 of `YYYY-MM-DD HH:MM:SS +HHMM`.
    private static func date(_ text: String, _ offset: Int) throws(PropertyListError) -> Double {
        let parts = text.split(separator: " ")
        let failure = PropertyListError(.corrupted, "date that is not YYYY-MM-DD HH:MM:SS +HHMM", offset: offset)
        guard parts.count == 3, parts[2].utf8.count == 5, let zone = Int(parts[2].dropFirst()), zone % 100 < 60,
            zone >= 0, parts[2].hasPrefix("+") || parts[2].hasPrefix("-")
        else { throw failure }
        let bytes = Array("\(parts[0])T\(parts[1])Z".utf8)
        guard !bytes.isEmpty else { throw failure }
        let local = try ByteView.with(bytes) { bytes throws(PropertyListError) in
            try XMLScalar.date(0..<bytes.count, in: bytes, offset: offset)
        }
        let shift = Double((zone / 100 * 60 + zone % 100) * 60)
        return parts[2].hasPrefix("-") ? local + shift : local - shift
    }
}

/// Finds the markup of an XML property list in its bytes: tags, and all that is skipped.
struct XMLScanner {
    let source: ByteView
    /// The place of the next byte.
    var at = 0

    init(_ source: ByteView) { self.source = source }

    func failure(_ message: String, at offset: Int? = nil) -> PropertyListError {
        PropertyListError(.corrupted, message, offset: offset ?? at)
    }

    @inline(__always)
    mutating func skipSpace() {
        while at < source.count, source[at] == 0x20 || (source[at] >= 0x09 && source[at] <= 0x0D) { at &+= 1 }
    }

    @inline(__always)
    func holds(_ text: StaticString) -> Bool {
        source.holds(text, at: at)
    }

    mutating func skip(past end: StaticString, _ construct: String) throws(PropertyListError) {
        let start = at
        while at < source.count {
            if source[at] == end.utf8Start[0], holds(end) {
                at += end.utf8CodeUnitCount
                return
            }
            at += 1
        }
        throw failure("\(construct) without an end", at: start)
    }

    /// Skips white space, comments and processing instructions.
    @inline(__always)
    mutating func skipMisc() throws(PropertyListError) {
        while true {
            skipSpace()
            guard at &+ 1 < source.count, source[at] == 0x3C, source[at &+ 1] == 0x21 || source[at &+ 1] == 0x3F
            else { return }
            if holds("<!--") {
                at += 4
                try skip(past: "-->", "comment")
            } else if holds("<?") {
                try skip(past: "?>", "processing instruction")
            } else {
                return
            }
        }
    }

    mutating func skipDocumentType() throws(PropertyListError) {
        let start = at
        var isInside = false
        while at < source.count {
            switch source[at] {
            case 0x22, 0x27:
                let quote = source[at]
                at += 1
                while at < source.count, source[at] != quote { at += 1 }
            case 0x5B: isInside = true
            case 0x5D: isInside = false
            case 0x3C where isInside:
                if holds("<!ENTITY") { throw failure("declaration of an entity, which is not allowed") }
                if holds("<!--") {
                    try skip(past: "-->", "comment")
                    continue
                }
            case 0x3E where !isInside:
                at += 1
                return
            default: break
            }
            at += 1
        }
        throw failure("document type without an end", at: start)
    }

    enum Element {
        case plist, dict, array, key, string, integer, real, yes, no, date, data

        var name: StaticString {
            switch self {
            case .plist: "plist"
            case .dict: "dict"
            case .array: "array"
            case .key: "key"
            case .string: "string"
            case .integer: "integer"
            case .real: "real"
            case .yes: "true"
            case .no: "false"
            case .date: "date"
            case .data: "data"
            }
        }
    }

    struct Tag {
        let kind: Element
        let isEmpty: Bool
        let offset: Int
    }

    func element(_ start: Int, _ end: Int) -> Element? {
        func has(_ text: StaticString) -> Bool {
            guard end &- start == text.utf8CodeUnitCount else { return false }
            for index in 0..<text.utf8CodeUnitCount where source[start &+ index] != text.utf8Start[index] {
                return false
            }
            return true
        }
        guard start < end else { return nil }
        switch source[start] {
        case 0x6B: return has("key") ? .key : nil
        case 0x73: return has("string") ? .string : nil
        case 0x69: return has("integer") ? .integer : nil
        case 0x72: return has("real") ? .real : nil
        case 0x64: return has("dict") ? .dict : has("data") ? .data : has("date") ? .date : nil
        case 0x61: return has("array") ? .array : nil
        case 0x74: return has("true") ? .yes : nil
        case 0x66: return has("false") ? .no : nil
        case 0x70: return has("plist") ? .plist : nil
        default: return nil
        }
    }

    @inline(__always)
    mutating func nameEnd() -> Int {
        var end = at
        while end < source.count, source[end] | 0x20 >= 0x61, source[end] | 0x20 <= 0x7A { end &+= 1 }
        return end
    }

    @inline(__always)
    mutating func openingTag() throws(PropertyListError) -> Tag {
        let start = at
        guard at < source.count else { throw failure("end of the input where an element is expected") }
        guard source[at] == 0x3C else { throw failure("text where an element is expected") }
        at &+= 1
        let end = nameEnd()
        guard let kind = element(at, end) else { throw failure("unknown element", at: start) }
        at = end
        if at < source.count, source[at] == 0x3E {
            at &+= 1
            return Tag(kind: kind, isEmpty: false, offset: start)
        }
        return try restOfTag(kind, start)
    }

    /// Skips attributes.
    mutating func restOfTag(_ kind: Element, _ start: Int) throws(PropertyListError) -> Tag {
        guard at < source.count, source[at] == 0x2F || source[at] <= 0x20 else {
            throw failure("unknown element", at: start)
        }
        while at < source.count {
            switch source[at] {
            case 0x3E:
                at += 1
                return Tag(kind: kind, isEmpty: source[at - 2] == 0x2F, offset: start)
            case 0x22, 0x27:
                let quote = source[at]
                at += 1
                while at < source.count, source[at] != quote { at += 1 }
                at += 1
            case 0x3C: throw failure("tag without an end", at: start)
            default: at += 1
            }
        }
        throw failure("tag without an end", at: start)
    }

    @inline(__always)
    mutating func closingTag(_ kind: Element) throws(PropertyListError) {
        let start = at
        guard at &+ 1 < source.count, source[at] == 0x3C, source[at &+ 1] == 0x2F else {
            throw failure("closing tag expected")
        }
        at &+= 2
        let name = kind.name
        guard holds(name) else { throw failure("closing tag of another element", at: start) }
        at &+= name.utf8CodeUnitCount
        skipSpace()
        guard at < source.count, source[at] == 0x3E else { throw failure("tag without an end", at: start) }
        at &+= 1
    }

    var isAtClosingTag: Bool {
        at &+ 1 < source.count && source[at] == 0x3C && source[at &+ 1] == 0x2F
    }

    // MARK: Text

    /// The bytes between an element's tags, without the white space around them.
    mutating func text(
        of tag: Tag,
        _ name: String,
        allowsEmpty: Bool = false
    ) throws(PropertyListError) -> Range<Int> {
        guard !tag.isEmpty else { throw failure("empty \(name)", at: tag.offset) }
        skipSpace()
        let start = at
        while at < source.count, source[at] != 0x3C { at &+= 1 }
        var end = at
        while end > start, source[end &- 1] <= 0x20 { end &-= 1 }
        try closingTag(tag.kind)
        guard end > start || allowsEmpty else { throw failure("empty \(name)", at: tag.offset) }
        return start..<end
    }

    /// The character that an entity or a number stands for.
    mutating func reference() throws(PropertyListError) -> Unicode.Scalar {
        let start = at
        let known: [(StaticString, Unicode.Scalar)] = [
            ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&apos;", "'"),
        ]
        for (name, scalar) in known where holds(name) {
            at += name.utf8CodeUnitCount
            return scalar
        }
        guard holds("&#") else { throw failure("unknown entity") }
        at += 2
        let isHexadecimal = at < source.count && source[at] == 0x78
        if isHexadecimal { at += 1 }
        var value: UInt32 = 0
        let digits = at
        while at < source.count, let digit = hexadecimalDigit(source[at]), isHexadecimal || digit < 10 {
            value = value * (isHexadecimal ? 16 : 10) + UInt32(digit)
            guard value <= 0x10_FFFF else { throw failure("reference to no character", at: start) }
            at += 1
        }
        guard at > digits, at < source.count, source[at] == 0x3B, value != 0, let scalar = Unicode.Scalar(value)
        else {
            throw failure("reference to no character", at: start)
        }
        at += 1
        return scalar
    }
}

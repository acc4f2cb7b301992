import Foundation

/// Reads an XML property list, UTF-8 that was checked, into a table of nodes.
///
/// A parser of this one vocabulary: elements have no attributes that matter, and no entities but XML's five and
/// character references are known. Declarations of entities are refused.
struct XMLReader: ~Copyable {
    private var builder: NodeBuilder
    private let source: ByteView
    private let depthLimit: Int
    private var at = 0
    private var depth = 0

    static func read(_ bytes: [UInt8], limits: PropertyListLimits) throws(PropertyListError) -> NodeTable {
        try ByteView.with(bytes) { source throws(PropertyListError) in
            var reader = XMLReader(source, limits: limits)
            try reader.document()
            return NodeTable(reader.builder, format: .xml)
        }
    }

    private init(_ source: ByteView, limits: PropertyListLimits) {
        self.source = source
        builder = NodeBuilder(source, limits: limits)
        depthLimit = limits.depth
    }

    // MARK: Markup

    private func failure(_ message: String, at offset: Int? = nil) -> PropertyListError {
        PropertyListError(.corrupted, message, offset: offset ?? at)
    }

    @inline(__always)
    private mutating func skipSpace() {
        while at < source.count, source[at] == 0x20 || (source[at] >= 0x09 && source[at] <= 0x0D) { at &+= 1 }
    }

    @inline(__always)
    private func holds(_ text: StaticString) -> Bool {
        source.holds(text, at: at)
    }

    private mutating func skip(past end: StaticString, _ construct: String) throws(PropertyListError) {
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
    private mutating func skipMisc() throws(PropertyListError) {
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

    private mutating func document() throws(PropertyListError) {
        try skipMisc()
        if holds("<!DOCTYPE") {
            try skipDocumentType()
            try skipMisc()
        }
        var isWrapped = false
        if holds("<plist") {
            let tag = try openingTag()
            guard tag.kind == .plist, !tag.isEmpty else { throw failure("plist without a value", at: tag.offset) }
            isWrapped = true
            try skipMisc()
        }
        let tag = try openingTag()
        _ = try value(tag)
        try skipMisc()
        guard isWrapped else { return }
        try closingTag(.plist)
    }

    private mutating func skipDocumentType() throws(PropertyListError) {
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

    private enum Element {
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

    private struct Tag {
        let kind: Element
        let isEmpty: Bool
        let offset: Int
    }

    private func element(_ start: Int, _ end: Int) -> Element? {
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
    private mutating func nameEnd() -> Int {
        var end = at
        while end < source.count, source[end] | 0x20 >= 0x61, source[end] | 0x20 <= 0x7A { end &+= 1 }
        return end
    }

    @inline(__always)
    private mutating func openingTag() throws(PropertyListError) -> Tag {
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
    private mutating func restOfTag(_ kind: Element, _ start: Int) throws(PropertyListError) -> Tag {
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
    private mutating func closingTag(_ kind: Element) throws(PropertyListError) {
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

    private var isAtClosingTag: Bool {
        at &+ 1 < source.count && source[at] == 0x3C && source[at &+ 1] == 0x2F
    }

    // MARK: Values

    private mutating func value(_ tag: Tag) throws(PropertyListError) -> Int {
        switch tag.kind {
        case .string: return try string(tag)
        case .dict: return try dictionary(tag)
        case .array: return try array(tag)
        case .integer:
            let number = try XMLScalar.integer(scalar(tag, "integer"), source, tag.offset)
            return try builder.append(number)
        case .real:
            let number = try XMLScalar.real(scalar(tag, "real"), source, tag.offset)
            return try builder.append(Node(.real, offset: tag.offset, payload: number.bitPattern))
        case .date:
            let date = try XMLScalar.date(scalar(tag, "date"), source, tag.offset)
            return try builder.append(Node(.date, offset: tag.offset, payload: date.bitPattern))
        case .yes, .no:
            if !tag.isEmpty {
                try skipMisc()
                try closingTag(tag.kind)
            }
            return try builder.append(Node(.bool, offset: tag.offset, payload: tag.kind == .yes ? 1 : 0))
        case .data:
            let start = builder.bytes.count
            if !tag.isEmpty {
                let range = try scalar(tag, "data", allowsEmpty: true)
                try Base64.decode(source, range, into: &builder.bytes)
            }
            return try builder.append(
                Node(.data, offset: tag.offset, payload: UInt64(start), count: builder.bytes.count - start)
            )
        case .key: throw failure("key outside of a dictionary", at: tag.offset)
        case .plist: throw failure("plist inside of a plist", at: tag.offset)
        }
    }

    /// The bytes between an element's tags, without the white space around them.
    private mutating func scalar(
        _ tag: Tag,
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

    private mutating func string(_ tag: Tag) throws(PropertyListError) -> Int {
        if tag.isEmpty { return try builder.append(Node(.string, offset: tag.offset, payload: 0)) }
        let start = at
        var end = start
        while end < source.count, source[end] != 0x3C, source[end] != 0x26 { end &+= 1 }
        at = end
        if isAtClosingTag {
            let count = at &- start
            try closingTag(tag.kind)
            return try builder.append(Node(.string, offset: tag.offset, payload: UInt64(start), count: count))
        }
        return try decodedString(tag, start)
    }

    /// A string with references, comments or CDATA.
    private mutating func decodedString(_ tag: Tag, _ start: Int) throws(PropertyListError) -> Int {
        let first = builder.bytes.count
        var run = start
        while true {
            guard at < source.count else { throw failure("element without an end", at: tag.offset) }
            let byte = source[at]
            guard byte == 0x3C || byte == 0x26 else {
                at += 1
                continue
            }
            builder.bytes.append(source.part(run..<at))
            if byte == 0x26 {
                try reference()
            } else if holds("<![CDATA[") {
                at += 9
                let text = at
                try skip(past: "]]>", "CDATA")
                builder.bytes.append(source.part(text..<at - 3))
            } else if holds("<!--") {
                at += 4
                try skip(past: "-->", "comment")
            } else {
                break
            }
            run = at
        }
        try closingTag(tag.kind)
        return try builder.append(
            Node(.string, offset: tag.offset, payload: UInt64(first), count: builder.bytes.count - first)
        )
    }

    private mutating func reference() throws(PropertyListError) {
        let start = at
        let known: [(StaticString, UInt8)] = [
            ("&lt;", 0x3C), ("&gt;", 0x3E), ("&amp;", 0x26), ("&quot;", 0x22), ("&apos;", 0x27),
        ]
        for (name, byte) in known where holds(name) {
            at += name.utf8CodeUnitCount
            builder.bytes.append(byte)
            return
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
        for byte in UTF8.encode(scalar)! { builder.bytes.append(byte) }
    }

    private mutating func enter(_ tag: Tag) throws(PropertyListError) {
        depth += 1
        guard depth <= depthLimit else {
            throw PropertyListError(
                .limitExceeded,
                "more than \(depthLimit) containers in each other",
                offset: tag.offset
            )
        }
    }

    private mutating func array(_ tag: Tag) throws(PropertyListError) -> Int {
        try enter(tag)
        let container = try builder.append(Node(.array, offset: tag.offset))
        var last: Int?
        var count = 0
        if !tag.isEmpty {
            while true {
                try skipMisc()
                if isAtClosingTag { break }
                let member = try value(openingTag())
                builder.link(member, to: container, after: last)
                last = member
                count &+= 1
            }
            try closingTag(.array)
        }
        builder.setCount(count, of: container)
        depth -= 1
        return container
    }

    private mutating func dictionary(_ tag: Tag) throws(PropertyListError) -> Int {
        try enter(tag)
        let container = try builder.append(Node(.dictionary, offset: tag.offset))
        var last: Int?
        var count = 0
        if !tag.isEmpty {
            while true {
                try skipMisc()
                if isAtClosingTag { break }
                let name = try openingTag()
                guard name.kind == .key else { throw failure("key expected in the dictionary", at: name.offset) }
                let key = try string(name)
                builder.shareText(ofKey: key)
                builder.link(key, to: container, after: last)
                try skipMisc()
                if isAtClosingTag { throw failure("key without a value", at: name.offset) }
                let member = try value(openingTag())
                builder.link(member, to: container, after: key)
                last = member
                count &+= 1
            }
            try closingTag(.dict)
        }
        builder.setCount(count, of: container)
        depth -= 1
        if count == 1 { readUID(container) }
        return container
    }

    /// A dictionary of the one key `CF$UID` with a number is a reference of a keyed archive.
    private mutating func readUID(_ container: Int) {
        let key = builder.nodes[container + 1]
        let value = builder.nodes[Int(key.next)]
        guard value.kind == .integer, value.payload <= UInt64(UInt32.max), key.length == 6,
            builder.bytes.part(key.range).elementsEqual("CF$UID".utf8)
        else { return }
        builder.replace(
            container,
            by: Node(.uid, offset: Int(builder.nodes[container].offset), payload: value.payload)
        )
    }
}

@inline(__always)
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
}

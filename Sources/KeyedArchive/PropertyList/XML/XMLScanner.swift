/// Takes an XML document apart into tags and text, as far as property lists need it.
struct XMLScanner {
    /// The elements of property lists.
    enum Element: String {
        case plist, dict, array, key, string, integer, real, date, data
        case yes = "true"
        case no = "false"
    }

    enum Tag {
        case open(Element, isEmpty: Bool)
        case close(Element)
        case end
    }

    private let bytes: [UInt8]
    private(set) var at: Int
    /// Whether an element was seen: before that, an unknown one says that this is no property list.
    private var isInside = false
    private let isTranscoded: Bool

    init(_ text: XMLText) {
        bytes = text.bytes
        at = text.start
        isTranscoded = text.isTranscoded
    }

    func corrupted(_ message: String, at offset: Int? = nil) -> ArchiveError {
        ArchiveError(.corrupted, message, offset: offset ?? at)
    }

    // MARK: Tags

    /// The next tag, after white space, comments and processing instructions.
    ///
    /// - Parameter start: set to where the tag begins.
    mutating func nextTag(_ start: inout Int) throws(ArchiveError) -> Tag {
        while true {
            skipBlanks()
            start = at
            guard at < bytes.count else { return .end }
            guard bytes[at] == UInt8(ascii: "<") else { throw corrupted("text outside an element for text") }
            if try skipMarkup() { continue }
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "/") {
                at += 1
                let element = try element(start)
                skipBlanks()
                try expect(UInt8(ascii: ">"))
                return .close(element)
            }
            let element = try element(start)
            isInside = true
            return .open(element, isEmpty: try skipAttributes())
        }
    }

    private mutating func element(_ start: Int) throws(ArchiveError) -> Element {
        let first = at
        while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
        if at < bytes.count, at - first <= 7,
            let element = Element(rawValue: String(decoding: bytes[first..<at], as: UTF8.self))
        {
            return element
        }
        if at == bytes.count { throw corrupted("truncated inside a tag") }
        if isInside { throw corrupted("an element that property lists do not have", at: start) }
        throw ArchiveError(.unknownFormat, "XML, but no property list", offset: start)
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
        default: false
        }
    }

    /// Skips attributes, which mean nothing here, and the tag's end.
    ///
    /// - Returns: whether the tag closes its element too.
    private mutating func skipAttributes() throws(ArchiveError) -> Bool {
        while true {
            let gap = at
            skipBlanks()
            guard at < bytes.count else { throw corrupted("truncated inside a tag") }
            switch bytes[at] {
            case UInt8(ascii: ">"):
                at += 1
                return false
            case UInt8(ascii: "/"):
                at += 1
                try expect(UInt8(ascii: ">"))
                return true
            case let byte where Self.isName(byte) && gap < at:
                while at < bytes.count, Self.isName(bytes[at]) { at += 1 }
                skipBlanks()
                try expect(UInt8(ascii: "="))
                skipBlanks()
                _ = try quoted()
            default:
                throw corrupted("a tag that is malformed")
            }
        }
    }

    /// The place of a quoted text.
    private mutating func quoted() throws(ArchiveError) -> Range<Int> {
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            throw corrupted("a quotation mark is missing")
        }
        let start = at + 1
        guard let end = bytes[start...].firstIndex(of: bytes[at]) else {
            throw corrupted("truncated inside quotation marks")
        }
        at = end + 1
        return start..<end
    }

    private mutating func expect(_ byte: UInt8) throws(ArchiveError) {
        guard at < bytes.count, bytes[at] == byte else {
            throw corrupted(at < bytes.count ? "a tag that is malformed" : "truncated inside a tag")
        }
        at += 1
    }

    // MARK: Skipping

    private mutating func skipBlanks() {
        while at < bytes.count, XMLText.isBlank(bytes[at]) { at += 1 }
    }

    private func isNext(_ text: StaticString) -> Bool {
        // A static string's bytes stay where they are as long as the process lives.
        bytes[at...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Skips a comment, a processing instruction or the document type.
    ///
    /// - Returns: whether there was one.
    private mutating func skipMarkup() throws(ArchiveError) -> Bool {
        if isNext("<!--") {
            at += 4
            try skip(past: "-->")
        } else if isNext("<?") {
            let start = at
            at += 2
            try skip(past: "?>")
            if bytes[start...].starts(with: "<?xml".utf8), XMLText.isBlank(bytes[start + 5]) {
                try checkEncoding(start..<at)
            }
        } else if isNext("<!DOCTYPE"), !isInside {
            at += 9
            try skipDocumentType()
        } else {
            return false
        }
        return true
    }

    private mutating func skip(past end: StaticString) throws(ArchiveError) {
        let last = UInt8(ascii: ">")
        let start = at
        while let found = bytes[at...].firstIndex(of: last) {
            at = found + 1
            let before = at - end.utf8CodeUnitCount
            if before >= start {
                let tail = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
                if bytes[before..<at].elementsEqual(tail) { return }
            }
        }
        throw corrupted("truncated inside a comment or instruction", at: bytes.count)
    }

    /// Skips the document type's names. Its own declarations, entities among them, are refused: nothing in a
    /// property list needs them, and they can make a small document a large one.
    private mutating func skipDocumentType() throws(ArchiveError) {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: ">"):
                at += 1
                return
            case UInt8(ascii: "["):
                throw ArchiveError(.unsupportedFormat, "a document type with declarations", offset: at)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                _ = try quoted()
            case UInt8(ascii: "<"):
                throw corrupted("a document type that is malformed")
            default:
                at += 1
            }
        }
        throw corrupted("truncated inside the document type")
    }

    /// Checks the encoding that the XML declaration names, if it names one.
    private mutating func checkEncoding(_ declaration: Range<Int>) throws(ArchiveError) {
        let end = at
        defer { at = end }
        at = declaration.lowerBound + 5
        while at < declaration.upperBound - 2 {
            skipBlanks()
            let name = at
            while at < end, Self.isName(bytes[at]) { at += 1 }
            let isEncoding = bytes[name..<at].elementsEqual("encoding".utf8)
            if name == at || at >= declaration.upperBound - 2 { break }
            skipBlanks()
            try expect(UInt8(ascii: "="))
            skipBlanks()
            let value = try quoted()
            guard at <= declaration.upperBound - 2 else { break }
            guard isEncoding else { continue }
            let encoding = String(decoding: bytes[value].prefix(40), as: UTF8.self).lowercased()
            // A byte order mark says more than the name: converted files often keep the old one.
            let isKnown = ["utf-8", "us-ascii"].contains(encoding) || isTranscoded && encoding.hasPrefix("utf-16")
            guard isKnown else {
                throw ArchiveError(.unsupportedFormat, "XML in another encoding than UTF-8", offset: name)
            }
        }
        skipBlanks()
        guard at == declaration.upperBound - 2 else { throw corrupted("an XML declaration that is malformed") }
    }

    // MARK: Text

    /// Reads the text up to the end tag of `element`, and the tag.
    ///
    /// - Parameter text: gets the text's bytes, entities and CDATA resolved. Line ends stay as they are, as in
    ///   Foundation.
    mutating func readText(of element: Element, into text: inout [UInt8]) throws(ArchiveError) {
        text.removeAll(keepingCapacity: true)
        var start = at
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"):
                text += bytes[start..<at]
                if isNext("<![CDATA[") {
                    start = at + 9
                    at = start
                    try skip(past: "]]>")
                    text += bytes[start..<at - 3]
                } else if try !skipMarkup() {
                    return try readEnd(of: element)
                }
                start = at
            case UInt8(ascii: "&"):
                text += bytes[start..<at]
                try readEntity(into: &text)
                start = at
            case 0:
                throw corrupted("a zero byte in text")
            default:
                at += 1
            }
        }
        throw corrupted("truncated inside text")
    }

    private mutating func readEnd(of element: Element) throws(ArchiveError) {
        let start = at
        at += 1
        try expect(UInt8(ascii: "/"))
        guard try self.element(start) == element else { throw corrupted("end of another element", at: start) }
        skipBlanks()
        try expect(UInt8(ascii: ">"))
    }

    private mutating func readEntity(into text: inout [UInt8]) throws(ArchiveError) {
        let start = at
        // The longest that means anything is `&#x0010FFFF;`, give or take a few zeros.
        guard let end = bytes[start...].prefix(32).firstIndex(of: UInt8(ascii: ";")) else {
            throw corrupted("an entity without an end")
        }
        let name = bytes[start + 1..<end]
        switch String(decoding: name, as: UTF8.self) {
        case "amp": text.append(UInt8(ascii: "&"))
        case "lt": text.append(UInt8(ascii: "<"))
        case "gt": text.append(UInt8(ascii: ">"))
        case "quot": text.append(UInt8(ascii: "\""))
        case "apos": text.append(UInt8(ascii: "'"))
        default:
            guard name.first == UInt8(ascii: "#"), let scalar = Self.scalar(name.dropFirst()) else {
                throw corrupted("an entity that property lists do not have")
            }
            text += Array(String(Character(scalar)).utf8)
        }
        at = end + 1
    }

    /// The scalar of `10` or `xA`. Those that XML forbids are read, as Foundation does.
    private static func scalar(_ number: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let isHexadecimal = number.first == UInt8(ascii: "x")
        let digits = isHexadecimal ? number.dropFirst() : number
        guard digits.first != UInt8(ascii: "+") else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10)
            .flatMap(Unicode.Scalar.init)
    }
}

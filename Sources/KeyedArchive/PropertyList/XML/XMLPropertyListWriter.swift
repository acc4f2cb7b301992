/// Writes a binary property list as XML, in the layout of Apple's tools.
///
/// Values that XML cannot hold are an error, never left out: null, sets, text with characters that XML forbids,
/// and dates outside the years 1 to 9999. Fractions of seconds are the exception: XML has none, so inline dates
/// are rounded down to whole seconds. (Archived dates are no inline dates; they keep their fractions.)
struct XMLPropertyListWriter {
    /// A container that is being written.
    private struct Frame {
        enum Members {
            case array(BinaryPropertyList.References)
            case dictionary(BinaryPropertyList.Fields)
        }
        let members: Members
        var next = 0
    }

    private let list: BinaryPropertyList
    private var output: [UInt8] = []
    private var frames: [Frame] = []
    /// In the binary form containers may be shared, in XML they are written as often as they are referred to.
    private let limit: Int

    private init(_ list: BinaryPropertyList) {
        self.list = list
        limit = 1 << 22 + 256 * list.bytes.count
    }

    /// - Throws: `.unsupportedType` for values that XML cannot hold, `.limitExceeded` if containers nest more than
    ///   512 deep or are shared so often that the XML would be far larger than the list, `.corrupted` if the list
    ///   is damaged.
    /// - Complexity: O(*n*) in the bytes of the XML.
    static func xml(_ list: BinaryPropertyList) throws(ArchiveError) -> [UInt8] {
        var writer = XMLPropertyListWriter(list)
        try writer.write()
        return writer.output
    }

    // MARK: Containers

    private mutating func write() throws(ArchiveError) {
        append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        append("<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" ")
        append("\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n")
        try write(list.top)
        while let frame = frames.last {
            frames[frames.count - 1].next += 1
            switch frame.members {
            case .array(let run) where frame.next < run.count:
                try write(list.element(run, frame.next))
            case .dictionary(let fields) where frame.next < fields.count:
                try write(key: list.key(fields, frame.next))
                try write(list.value(fields, frame.next))
            case .array:
                frames.removeLast()
                line("</array>")
            case .dictionary:
                frames.removeLast()
                line("</dict>")
            }
        }
        append("</plist>\n")
    }

    private mutating func open(_ members: Frame.Members, at reference: Int) throws(ArchiveError) {
        guard frames.count < XMLPropertyList.depthLimit else {
            throw ArchiveError(
                .limitExceeded,
                "containers nest more than \(XMLPropertyList.depthLimit) deep",
                offset: try list.offset(of: reference)
            )
        }
        frames.append(Frame(members: members))
    }

    private mutating func write(key reference: Int) throws(ArchiveError) {
        guard let key = try list.string(reference) else {
            throw ArchiveError(.corrupted, "key that is no string", offset: try list.offset(of: reference))
        }
        indent()
        append("<key>")
        try append(escaped: key, reference)
        append("</key>\n")
    }

    // MARK: Values

    private mutating func write(_ reference: Int) throws(ArchiveError) {
        guard output.count <= limit else {
            throw ArchiveError(.limitExceeded, "the list holds far more than its size can justify")
        }
        switch try list.object(reference) {
        case .bool(let value): line(value ? "<true/>" : "<false/>")
        case .integer(let value): line("<integer>\(value)</integer>")
        case .unsigned(let value): line("<integer>\(value)</integer>")
        case .float(let value): line("<real>\(Self.text(Double(value)))</real>")
        case .double(let value): line("<real>\(Self.text(value))</real>")
        case .date(let seconds):
            guard let date = CivilDate(flooring: seconds) else {
                throw try unsupported("a date outside the years 1 to 9999", reference)
            }
            line("<date>\(date.text())</date>")
        case .data(let range): write(data: range)
        case .ascii(let range): try write(list.string(ascii: range), reference)
        case .utf16(let range): try write(list.string(utf16: range), reference)
        case .uid(let uid):
            line("<dict>")
            line("\t<key>CF$UID</key>")
            line("\t<integer>\(uid)</integer>")
            line("</dict>")
        case .array(let run) where run.count == 0: line("<array/>")
        case .array(let run):
            line("<array>")
            try open(.array(run), at: reference)
        case .dictionary(let fields) where fields.count == 0: line("<dict/>")
        case .dictionary(let fields):
            if try isLikeUID(fields) {
                throw try unsupported("a dictionary that would be read as a UID", reference)
            }
            line("<dict>")
            try open(.dictionary(fields), at: reference)
        case .null: throw try unsupported("null", reference)
        case .set: throw try unsupported("a set", reference)
        }
    }

    private func unsupported(_ what: String, _ reference: Int) throws(ArchiveError) -> ArchiveError {
        ArchiveError(
            .unsupportedType,
            "\(what), which XML property lists cannot hold",
            offset: try list.offset(of: reference)
        )
    }

    private func isLikeUID(_ fields: BinaryPropertyList.Fields) throws(ArchiveError) -> Bool {
        guard fields.count == 1, try list.isString(list.key(fields, 0), "CF$UID" as StaticString) else {
            return false
        }
        return switch try list.object(list.value(fields, 0)) {
        case .integer, .unsigned: true
        default: false
        }
    }

    /// The shortest text that reads back as the same number.
    private static func text(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        return value.description
    }

    private mutating func write(_ string: String, _ reference: Int) throws(ArchiveError) {
        indent()
        append("<string>")
        try append(escaped: string, reference)
        append("</string>\n")
    }

    private mutating func append(escaped text: String, _ reference: Int) throws(ArchiveError) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            // As itself it would be read as a line feed by most parsers.
            case 0x0D: append("&#13;")
            case 0..<0x20 where byte != 0x09 && byte != 0x0A:
                throw try unsupported("text with a control character", reference)
            // U+FFFE and U+FFFF.
            case 0xBE...0xBF where output.suffix(2).elementsEqual([0xEF, 0xBF]):
                throw try unsupported("text with an invalid character", reference)
            default: output.append(byte)
            }
        }
    }

    // MARK: Data

    /// Base64 in lines as long as Apple's: of 76 columns, where each level of indentation takes eight.
    private mutating func write(data range: Range<Int>) {
        line("<data>")
        let width = max(1, (76 - 8 * min(8, frames.count)) / 4) * 3
        var start = range.lowerBound
        while start < range.upperBound {
            let end = min(start + width, range.upperBound)
            indent()
            append(base64: start..<end)
            output.append(UInt8(ascii: "\n"))
            start = end
        }
        line("</data>")
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private mutating func append(base64 range: Range<Int>) {
        for at in stride(from: range.lowerBound, to: range.upperBound, by: 3) {
            let count = min(3, range.upperBound - at)
            var group: UInt32 = 0
            for step in 0..<3 { group = group << 8 | (step < count ? UInt32(list.bytes[at + step]) : 0) }
            for step in 0..<4 {
                let bits = Int(group >> UInt32(18 - 6 * step) & 63)
                output.append(step <= count ? Self.alphabet[bits] : UInt8(ascii: "="))
            }
        }
    }

    // MARK: Text

    private mutating func append(_ text: String) { output += text.utf8 }

    private mutating func indent() {
        output.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: frames.count))
    }

    private mutating func line(_ text: String) {
        indent()
        append(text)
        output.append(UInt8(ascii: "\n"))
    }
}

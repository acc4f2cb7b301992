import Foundation

/// Writes a table of nodes as an XML property list, laid out as Foundation's.
struct XMLWriter: ~Copyable {
    private let source: NodeTable
    private var output: ByteOutput
    /// By the place of its text: the line of a key that was written, to be written again.
    private var keyLines: [(key: UInt64, count: UInt32, indent: Int, line: Range<Int>)]

    static func write(_ source: NodeTable) throws(PropertyListError) -> Data {
        var writer = XMLWriter(source)
        writer.output.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        )
        try writer.value(source.nodes[NodeTable.root], indent: 0)
        writer.output.append("</plist>\n")
        return writer.data()
    }

    private init(_ source: NodeTable) {
        self.source = source
        output = ByteOutput(capacity: source.nodes.count * 40 + 512)
        keyLines = Array(repeating: (0, 0, -1, 0..<0), count: 64)
    }

    private consuming func data() -> Data { output.data() }

    @inline(__always)
    private mutating func append(_ text: StaticString) { output.append(text) }

    @inline(__always)
    private mutating func tabs(_ count: Int) { output.append(tabs: count) }

    private mutating func value(_ node: Node, indent: Int) throws(PropertyListError) {
        tabs(indent)
        switch node.kind {
        case .bool: append(node.payload == 0 ? "<false/>\n" : "<true/>\n")
        case .integer:
            append("<integer>")
            output.append(decimal: Int64(bitPattern: node.payload))
            append("</integer>\n")
        case .unsigned:
            append("<integer>")
            output.append(decimal: node.payload)
            append("</integer>\n")
        // As wide as readers take it: in a float's own digits it would be another number for them.
        case .float: real(Double(node.float), Double(node.float).description)
        case .real: real(node.real, node.real.description)
        case .date:
            // Readers know years of four digits.
            guard let date = CivilDate(flooring: node.real), date.hasYearOfFourDigits else {
                throw PropertyListError(.notRepresentable, "XML cannot hold a date outside the years 1 to 9999")
            }
            append("<date>")
            date.append(to: &output, separator: 0x54)
            append("Z</date>\n")
        case .string:
            append("<string>")
            try text(node)
            append("</string>\n")
        case .data:
            append("<data>\n")
            Base64.encode(
                source.bytes.part(node.range),
                into: &output,
                groupsPerLine: (76 - 8 * min(indent, 8)) / 4,
                indent: indent
            )
            tabs(indent)
            append("</data>\n")
        case .uid:
            append("<dict>\n")
            tabs(indent + 1)
            append("<key>CF$UID</key>\n")
            tabs(indent + 1)
            append("<integer>")
            output.append(decimal: node.payload)
            append("</integer>\n")
            tabs(indent)
            append("</dict>\n")
        case .array: try array(node, indent: indent)
        case .dictionary: try dictionary(node, indent: indent)
        case .null: throw PropertyListError(.notRepresentable, "XML has no null")
        case .set: throw PropertyListError(.notRepresentable, "XML has no sets")
        }
    }

    private mutating func real(_ number: Double, _ description: String) {
        append("<real>")
        output.append(real: number, description)
        append("</real>\n")
    }

    private mutating func array(_ node: Node, indent: Int) throws(PropertyListError) {
        if node.start == 0 { return append("<array/>\n") }
        try PropertyListLimits.check(depth: indent)
        append("<array>\n")
        var member = node.start
        while member != 0 {
            let node = source.nodes[member]
            try value(node, indent: indent + 1)
            member = Int(node.next)
        }
        tabs(indent)
        append("</array>\n")
    }

    private mutating func dictionary(_ node: Node, indent: Int) throws(PropertyListError) {
        if node.start == 0 { return append("<dict/>\n") }
        if isLikeUID(node) {
            throw PropertyListError(.notRepresentable, "dictionary that XML's readers would take for a reference")
        }
        try PropertyListLimits.check(depth: indent)
        append("<dict>\n")
        var key = node.start
        while key != 0 {
            let name = source.nodes[key]
            try self.key(name, indent: indent + 1)
            let value = source.nodes[Int(name.next)]
            try self.value(value, indent: indent + 1)
            key = Int(value.next)
        }
        tabs(indent)
        append("</dict>\n")
    }

    private func isLikeUID(_ node: Node) -> Bool {
        guard node.length == 1 else { return false }
        let key = source.nodes[node.start]
        let value = source.nodes[Int(key.next)]
        return value.kind == .integer && value.payload <= UInt64(UInt32.max) && source.text(key) == "CF$UID"
    }

    private mutating func key(_ name: Node, indent: Int) throws(PropertyListError) {
        let slot = Int(truncatingIfNeeded: (name.payload &* 0x9E37_79B9_7F4A_7C15) >> 58)
        let last = keyLines[slot]
        if last.key == name.payload, last.count == name.count, last.indent == indent {
            return output.append(again: last.line)
        }
        let start = output.count
        tabs(indent)
        append("<key>")
        try text(name)
        append("</key>\n")
        keyLines[slot] = (name.payload, name.count, indent, start..<output.count)
    }

    /// Whether no byte is a control character, one of `&<>`, or 0xEF; eight at a time.
    @inline(__always)
    private static func isPlain(_ text: ByteView) -> Bool {
        var at = 0
        while at &+ 8 <= text.count {
            if !isPlain(text.word(at: at)) { return false }
            at &+= 8
        }
        var rest: UInt64 = 0x2020_2020_2020_2020
        while at < text.count {
            rest = rest << 8 | UInt64(text[at])
            at &+= 1
        }
        return isPlain(rest)
    }

    @inline(__always)
    private static func isPlain(_ bytes: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // The highest bit of each byte below `limit`; also of one above such a byte, which does not matter.
        func below(_ limit: UInt64, _ bytes: UInt64) -> UInt64 { (bytes &- ones &* limit) & ~bytes }
        let found =
            below(0x20, bytes) | below(1, bytes ^ ones &* 0x26) | below(1, bytes ^ ones &* 0x3C)
            | below(1, bytes ^ ones &* 0x3E) | below(1, bytes ^ ones &* 0xEF)
        return found & (ones << 7) == 0
    }

    /// A character that XML 1.0 does not allow: readers of property lists take it as a reference.
    private mutating func reference(_ scalar: UInt64) {
        append("&#")
        output.append(decimal: scalar)
        append(";")
    }

    /// Whether the bytes from a place on are U+FFFE or U+FFFF.
    private func isInvalid(_ bytes: ByteView, _ at: Int) -> Bool {
        at + 2 < bytes.count && bytes[at] == 0xEF && bytes[at + 1] == 0xBF && bytes[at + 2] >= 0xBE
    }

    /// - Throws: for a zero byte, which no reader takes.
    private mutating func text(_ node: Node) throws(PropertyListError) {
        let bytes = source.bytes.part(node.range)
        if Self.isPlain(bytes) { return output.append(bytes) }
        var at = bytes.startIndex
        while at < bytes.endIndex {
            let byte = bytes[at]
            switch byte {
            case 0x26: append("&amp;")
            case 0x3C: append("&lt;")
            case 0x3E: append("&gt;")
            case 0x09, 0x0A: output.append(byte)
            case 0: throw PropertyListError(.notRepresentable, "XML cannot hold a zero byte of a string")
            // Readers of XML turn a bare carriage return into a line feed.
            case 1..<0x20: reference(UInt64(byte))
            case 0xEF where isInvalid(bytes, at):
                reference(0xFF40 | UInt64(bytes[at + 2]))
                at += 2
            default: output.append(byte)
            }
            at += 1
        }
    }
}

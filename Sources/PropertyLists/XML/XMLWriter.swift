import Foundation

/// Writes a table of nodes as an XML property list, laid out as Foundation's.
struct XMLWriter: ~Copyable {
    private let source: NodeTable
    private var output: ByteOutput

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
    }

    private consuming func data() -> Data { output.data() }

    @inline(__always)
    private mutating func append(_ text: StaticString) { output.append(text) }

    @inline(__always)
    private mutating func tabs(_ count: Int) { output.append(0x09, times: count) }

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
        case .float: scalar("<real>", Self.text(Double(node.float), node.float.description), "</real>\n")
        case .real: scalar("<real>", Self.text(node.real, node.real.description), "</real>\n")
        case .date:
            guard let date = CivilDate(seconds: node.real) else {
                throw PropertyListError(.notRepresentable, "date too far away for XML")
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
                source.bytes[node.range],
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

    static func text(_ number: Double, _ description: String) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
        return description.hasSuffix(".0") ? String(description.dropLast(2)) : description
    }

    @inline(__always)
    private mutating func scalar(_ open: StaticString, _ text: String, _ close: StaticString) {
        append(open)
        output.append(text)
        append(close)
    }

    private mutating func array(_ node: Node, indent: Int) throws(PropertyListError) {
        if node.start == 0 { return append("<array/>\n") }
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
        append("<dict>\n")
        var key = node.start
        while key != 0 {
            let name = source.nodes[key]
            tabs(indent + 1)
            append("<key>")
            try text(name)
            append("</key>\n")
            let value = source.nodes[Int(name.next)]
            try self.value(value, indent: indent + 1)
            key = Int(value.next)
        }
        tabs(indent)
        append("</dict>\n")
    }

    /// - Throws: for characters that XML does not allow in any form.
    private mutating func text(_ node: Node) throws(PropertyListError) {
        let range = node.range
        let isPlain = source.bytes.withUnsafeBufferPointer { bytes in
            var isPlain = true
            for byte in UnsafeBufferPointer(rebasing: bytes[range])
            where byte < 0x20 || byte == 0x26 || byte == 0x3C || byte == 0x3E || byte == 0xEF { isPlain = false }
            return isPlain
        }
        if isPlain { return output.append(source.bytes, in: range) }
        for at in range {
            let byte = source.bytes[at]
            switch byte {
            case 0x26: append("&amp;")
            case 0x3C: append("&lt;")
            case 0x3E: append("&gt;")
            // Readers of XML turn a bare one into a line feed.
            case 0x0D: append("&#13;")
            case 0x09, 0x0A: output.append(byte)
            case 0..<0x20:
                throw PropertyListError(.notRepresentable, "XML cannot hold a control character of a string")
            // U+FFFE and U+FFFF.
            case 0xEF where source.bytes[at + 1] == 0xBF && source.bytes[at + 2] >= 0xBE:
                throw PropertyListError(.notRepresentable, "XML cannot hold U+FFFE and U+FFFF")
            default: output.append(byte)
            }
        }
    }
}

import Foundation

/// Writes a table of nodes in OpenStep's text or, with types, in GNUstep's.
struct TextWriter: ~Copyable {
    private let source: NodeTable
    private let isTyped: Bool
    private var output: ByteOutput

    static func write(_ source: NodeTable, isTyped: Bool) throws(PropertyListError) -> Data {
        var writer = TextWriter(source: source, isTyped: isTyped)
        try writer.value(source.nodes[NodeTable.root], indent: 0)
        writer.output.append(0x0A)
        return writer.data()
    }

    private init(source: NodeTable, isTyped: Bool) {
        self.source = source
        self.isTyped = isTyped
        output = ByteOutput(capacity: source.nodes.count * 16 + 64)
    }

    private consuming func data() -> Data { output.data() }

    private mutating func append(_ text: String) { output.append(text) }

    private mutating func value(_ node: Node, indent: Int) throws(PropertyListError) {
        switch node.kind {
        case .string: return string(node)
        case .data: return data(node)
        case .array: return try array(node, indent: indent)
        case .dictionary: return try dictionary(node, indent: indent)
        case .null, .set, .uid:
            throw PropertyListError(.notRepresentable, "text has no null, sets and UIDs")
        default: break
        }
        guard isTyped else {
            throw PropertyListError(.notRepresentable, "OpenStep's text has no numbers, dates and Booleans")
        }
        switch node.kind {
        case .bool: append(node.payload == 0 ? "<*BN>" : "<*BY>")
        case .integer: append("<*I\(Int64(bitPattern: node.payload))>")
        case .unsigned: append("<*I\(node.payload)>")
        // As wide as readers take it: in a float's own digits it would be another number for them.
        case .float: real(Double(node.float), Double(node.float).description)
        case .real: real(node.real, node.real.description)
        default:
            guard let date = CivilDate(flooring: node.real) else {
                throw PropertyListError(.notRepresentable, "date too far away for text")
            }
            append("<*D")
            date.append(to: &output, separator: 0x20)
            append(" +0000>")
        }
    }

    private mutating func tabs(_ count: Int) { output.append(0x09, times: count) }

    private mutating func array(_ node: Node, indent: Int) throws(PropertyListError) {
        try PropertyListLimits.check(depth: indent)
        output.append(0x28)
        var member = node.start
        while member != 0 {
            append("\n")
            tabs(indent + 1)
            try value(source.nodes[member], indent: indent + 1)
            member = Int(source.nodes[member].next)
            if member != 0 { output.append(0x2C) }
        }
        if node.start != 0 {
            append("\n")
            tabs(indent)
        }
        output.append(0x29)
    }

    private mutating func dictionary(_ node: Node, indent: Int) throws(PropertyListError) {
        try PropertyListLimits.check(depth: indent)
        output.append(0x7B)
        var key = node.start
        while key != 0 {
            append("\n")
            tabs(indent + 1)
            string(source.nodes[key])
            append(" = ")
            let member = source.nodes[Int(source.nodes[key].next)]
            try value(member, indent: indent + 1)
            output.append(0x3B)
            key = Int(member.next)
        }
        if node.start != 0 {
            append("\n")
            tabs(indent)
        }
        output.append(0x7D)
    }

    private mutating func real(_ number: Double, _ description: String) {
        append("<*R")
        output.append(real: number, description)
        output.append(0x3E)
    }

    private mutating func data(_ node: Node) {
        let digits = Array("0123456789abcdef".utf8)
        output.append(0x3C)
        for (index, byte) in source.bytes.part(node.range).enumerated() {
            if index > 0, index % 4 == 0 { output.append(0x20) }
            output.append(digits[Int(byte >> 4)])
            output.append(digits[Int(byte & 0x0F)])
        }
        output.append(0x3E)
    }

    private mutating func string(_ node: Node) {
        let bytes = source.bytes.part(node.range)
        let isPlain = bytes.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x5F, 0x2E: true
            default: false
            }
        }
        // A list that is this text alone would be taken for a binary one.
        let isLikeBinary = bytes.starts(with: "bplist".utf8)
        if isPlain, !isLikeBinary, !bytes.isEmpty { return output.append(bytes) }
        output.append(0x22)
        for scalar in source.text(node).unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C:
                output.append(0x5C)
                output.append(UInt8(scalar.value))
            case 0x0A: append("\\n")
            case 0x09, 0x20...0x7E: output.append(UInt8(scalar.value))
            case 0..<0x80:
                let octal = String(scalar.value, radix: 8)
                append("\\" + String(repeating: "0", count: 3 - octal.utf8.count) + octal)
            default:
                for unit in UTF16.encode(scalar)! {
                    let digits = String(unit, radix: 16)
                    append("\\U" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
                }
            }
        }
        output.append(0x22)
    }
}

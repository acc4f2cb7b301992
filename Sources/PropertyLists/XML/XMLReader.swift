import Foundation

/// Reads an XML property list, UTF-8 that was checked, into a table of nodes.
///
/// A parser of this one vocabulary: elements have no attributes that matter, and no entities but XML's five and
/// character references are known. Declarations of entities are refused.
struct XMLReader: ~Copyable {
    private var builder: NodeBuilder
    private var scanner: XMLScanner
    private let depthLimit: Int
    private var depth = 0

    static func read(_ bytes: [UInt8], limits: PropertyListLimits) throws(PropertyListError) -> NodeTable {
        try ByteView.with(bytes) { source throws(PropertyListError) in
            var reader = XMLReader(source, limits: limits)
            try reader.document()
            return NodeTable(reader.builder, format: .xml)
        }
    }

    private init(_ source: ByteView, limits: PropertyListLimits) {
        scanner = XMLScanner(source)
        builder = NodeBuilder(source, limits: limits)
        depthLimit = limits.depth
    }

    private mutating func document() throws(PropertyListError) {
        try scanner.skipMisc()
        if scanner.holds("<!DOCTYPE") {
            try scanner.skipDocumentType()
            try scanner.skipMisc()
        }
        var isWrapped = false
        if scanner.holds("<plist") {
            let tag = try scanner.openingTag()
            guard tag.kind == .plist, !tag.isEmpty else {
                throw scanner.failure("plist without a value", at: tag.offset)
            }
            isWrapped = true
            try scanner.skipMisc()
        }
        let tag = try scanner.openingTag()
        _ = try value(tag)
        try scanner.skipMisc()
        guard isWrapped else { return }
        try scanner.closingTag(.plist)
    }

    // MARK: Values

    private mutating func value(_ tag: XMLScanner.Tag) throws(PropertyListError) -> Int {
        switch tag.kind {
        case .string: return try string(tag)
        case .dict: return try dictionary(tag)
        case .array: return try array(tag)
        case .integer:
            let number = try XMLScalar.integer(
                scanner.text(of: tag, "integer"),
                in: scanner.source,
                offset: tag.offset
            )
            return try builder.append(number)
        case .real:
            let number = try XMLScalar.real(scanner.text(of: tag, "real"), in: scanner.source, offset: tag.offset)
            return try builder.append(Node(.real, offset: tag.offset, payload: number.bitPattern))
        case .date:
            let date = try XMLScalar.date(scanner.text(of: tag, "date"), in: scanner.source, offset: tag.offset)
            return try builder.append(Node(.date, offset: tag.offset, payload: date.bitPattern))
        case .yes, .no:
            if !tag.isEmpty {
                try scanner.skipMisc()
                try scanner.closingTag(tag.kind)
            }
            return try builder.append(Node(.bool, offset: tag.offset, payload: tag.kind == .yes ? 1 : 0))
        case .data:
            let start = builder.bytes.count
            if !tag.isEmpty {
                let range = try scanner.text(of: tag, "data", allowsEmpty: true)
                try Base64.decode(scanner.source, range, into: &builder.bytes)
            }
            return try builder.append(
                Node(.data, offset: tag.offset, payload: UInt64(start), count: builder.bytes.count - start)
            )
        case .key: throw scanner.failure("key outside of a dictionary", at: tag.offset)
        case .plist: throw scanner.failure("plist inside of a plist", at: tag.offset)
        }
    }

    private mutating func string(_ tag: XMLScanner.Tag) throws(PropertyListError) -> Int {
        if tag.isEmpty { return try builder.append(Node(.string, offset: tag.offset, payload: 0)) }
        let start = scanner.at
        var end = start
        while end < scanner.source.count, scanner.source[end] != 0x3C, scanner.source[end] != 0x26 { end &+= 1 }
        scanner.at = end
        if scanner.isAtClosingTag {
            let count = scanner.at &- start
            try scanner.closingTag(tag.kind)
            return try builder.append(Node(.string, offset: tag.offset, payload: UInt64(start), count: count))
        }
        return try decodedString(tag, start)
    }

    /// A string with references, comments, processing instructions or CDATA.
    private mutating func decodedString(_ tag: XMLScanner.Tag, _ start: Int) throws(PropertyListError) -> Int {
        let first = builder.bytes.count
        var run = start
        while true {
            guard scanner.at < scanner.source.count else {
                throw scanner.failure("element without an end", at: tag.offset)
            }
            let byte = scanner.source[scanner.at]
            guard byte == 0x3C || byte == 0x26 else {
                scanner.at += 1
                continue
            }
            builder.bytes.append(scanner.source.part(run..<scanner.at))
            if byte == 0x26 {
                for byte in UTF8.encode(try scanner.reference())! { builder.bytes.append(byte) }
            } else if scanner.holds("<![CDATA[") {
                scanner.at += 9
                let text = scanner.at
                try scanner.skip(past: "]]>", "CDATA")
                builder.bytes.append(scanner.source.part(text..<scanner.at - 3))
            } else if scanner.holds("<!--") {
                scanner.at += 4
                try scanner.skip(past: "-->", "comment")
            } else if scanner.holds("<?") {
                try scanner.skip(past: "?>", "processing instruction")
            } else {
                break
            }
            run = scanner.at
        }
        try scanner.closingTag(tag.kind)
        return try builder.append(
            Node(.string, offset: tag.offset, payload: UInt64(first), count: builder.bytes.count - first)
        )
    }

    private mutating func enter(_ tag: XMLScanner.Tag) throws(PropertyListError) {
        try PropertyListLimits.check(depth: depth, limit: depthLimit, offset: tag.offset)
        depth += 1
    }

    private mutating func array(_ tag: XMLScanner.Tag) throws(PropertyListError) -> Int {
        try enter(tag)
        let container = try builder.append(Node(.array, offset: tag.offset))
        var last: Int?
        var count = 0
        if !tag.isEmpty {
            while true {
                try scanner.skipMisc()
                if scanner.isAtClosingTag { break }
                let member = try value(scanner.openingTag())
                builder.link(member, to: container, after: last)
                last = member
                count &+= 1
            }
            try scanner.closingTag(.array)
        }
        builder.setCount(count, of: container)
        depth -= 1
        return container
    }

    private mutating func dictionary(_ tag: XMLScanner.Tag) throws(PropertyListError) -> Int {
        try enter(tag)
        let container = try builder.append(Node(.dictionary, offset: tag.offset))
        var last: Int?
        var count = 0
        if !tag.isEmpty {
            while true {
                try scanner.skipMisc()
                if scanner.isAtClosingTag { break }
                let name = try scanner.openingTag()
                guard name.kind == .key else {
                    throw scanner.failure("key expected in the dictionary", at: name.offset)
                }
                let key = try string(name)
                builder.shareText(ofKey: key)
                builder.link(key, to: container, after: last)
                try scanner.skipMisc()
                if scanner.isAtClosingTag { throw scanner.failure("key without a value", at: name.offset) }
                let member = try value(scanner.openingTag())
                builder.link(member, to: container, after: key)
                last = member
                count &+= 1
            }
            try scanner.closingTag(.dict)
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

import Foundation

/// A property list that was read or is to be written: its values in one array, its text and data in another.
final class NodeTable: Sendable {
    let nodes: NodeStorage
    /// The input, and after it text and data that had to be decoded; strings are UTF-8 that was checked.
    let bytes: ByteOutput
    let format: PropertyListFormat

    init(_ builder: consuming NodeBuilder, format: PropertyListFormat) {
        nodes = builder.nodes
        bytes = builder.bytes
        self.format = format
    }

    static let root = 0

    @inline(__always)
    func text(_ node: Node) -> String {
        bytes.part(node.range).text
    }

    func data(_ node: Node) -> Data {
        bytes.part(node.range).data
    }

    @inline(__always)
    func haveSameBytes(_ node: Node, _ text: ByteView) -> Bool {
        bytes.part(node.range).isEqual(to: text)
    }

    /// A dictionary's keys in their order, with duplicates.
    func keys(of node: Node) -> [String] {
        var keys: [String] = []
        keys.reserveCapacity(node.length)
        forEachKey(of: node) { key, _ in keys.append(text(key)) }
        return keys
    }

    func hasASCIIKeys(_ node: Node) -> Bool {
        var areASCII = true
        forEachKey(of: node) { key, _ in areASCII = areASCII && bytes.part(key.range).isASCII }
        return areASCII
    }

    /// Calls a function with each key of a dictionary and the value that follows it.
    @inline(__always)
    func forEachKey(of node: Node, _ body: (_ key: Node, _ value: Node) -> Void) {
        var at = node.start
        while at != 0 {
            let key = nodes[at]
            let value = nodes[Int(key.next)]
            body(key, value)
            at = Int(value.next)
        }
    }

    /// Whether a dictionary's last value of a key counts; else the first.
    var lastDuplicateCounts: Bool { format.lastDuplicateCounts }

    /// Whether a dictionary has a key twice.
    var hasDuplicates: Bool {
        var forms = DictionaryForms(self)
        for index in 0..<nodes.count where nodes[index].kind == .dictionary {
            let node = nodes[index]
            // Those with a form have none.
            if node.length < 2 || forms.form(of: node) != nil { continue }
            let keys = keys(of: node)
            if Set(keys).count < keys.count { return true }
        }
        return false
    }

    func position(of node: Node) -> PropertyListPosition { position(at: Int(node.offset)) }

    /// O(*n*) in the bytes before, for lines.
    func position(at offset: Int) -> PropertyListPosition {
        format == .binary
            ? PropertyListPosition(offset: offset, line: 0, column: 0)
            : Self.position(at: offset, in: bytes.all)
    }

    static func position(at offset: Int, in bytes: ByteView) -> PropertyListPosition {
        var line = 1
        var start = 0
        var at = 0
        let end = min(offset, bytes.count)
        while at < end {
            let byte = bytes[at]
            at += 1
            if byte == 0x0A || (byte == 0x0D && !(at < bytes.count && bytes[at] == 0x0A)) {
                line += 1
                start = at
            }
        }
        return PropertyListPosition(offset: offset, line: line, column: end - start + 1)
    }
}

import Foundation

/// Builds a table of nodes.
struct NodeBuilder: ~Copyable {
    private(set) var nodes: NodeStorage
    var bytes: ByteOutput
    let limit: Int
    private var keyTexts = KeyTexts()

    /// A table without an input.
    init(limits: PropertyListLimits = PropertyListLimits()) {
        bytes = ByteOutput(capacity: 1_024)
        nodes = NodeStorage(capacity: 64)
        limit = limits.values
    }

    init(_ input: ByteView, limits: PropertyListLimits) {
        bytes = ByteOutput(capacity: input.count + 64)
        bytes.append(input)
        nodes = NodeStorage(capacity: min(input.count / 8 + 64, 1 << 16))
        limit = limits.values
    }

    /// Adds a value that is a member of no container yet, and returns its index.
    @inline(__always)
    mutating func append(_ node: Node) throws(PropertyListError) -> Int {
        guard nodes.count < limit else {
            throw PropertyListError(.limitExceeded, "more than \(limit) values", offset: Int(node.offset))
        }
        nodes.append(node)
        return nodes.count &- 1
    }

    /// Adds a member to a container, after `last`, its last one so far, if any.
    @inline(__always)
    mutating func link(_ member: Int, to container: Int, after last: Int?) {
        if let last {
            nodes[last].next = UInt32(truncatingIfNeeded: member)
        } else {
            nodes[container].payload = UInt64(truncatingIfNeeded: member)
        }
    }

    /// Gives a key the text of an equal one, if one was read lately.
    @inline(__always)
    mutating func shareText(ofKey key: Int) {
        let node = nodes[key]
        let text = bytes.part(node.range)
        let hash = KeyTexts.hash(text)
        if let place = keyTexts.place(of: text, hash, in: bytes) {
            nodes[key].payload = place
        } else {
            keyTexts.keep(node.payload, count: node.length, hash)
        }
    }

    @inline(__always)
    mutating func setCount(_ count: Int, of container: Int) {
        nodes[container].count = UInt32(truncatingIfNeeded: count)
    }

    /// Replaces a container whose members are the last of the table.
    mutating func replace(_ index: Int, by node: Node) {
        nodes.keepFirst(index + 1)
        nodes[index] = node
    }

    /// Begins again with the same input.
    mutating func removeAll() { nodes.keepFirst(0) }

    /// An empty dictionary, filled later.
    mutating func placeholder() -> Int {
        nodes.append(Node(.dictionary, offset: 0))
        return nodes.count - 1
    }

    /// The node of a key, and its hash.
    @inline(__always)
    mutating func key(_ text: ByteView, _ hash: UInt64) -> Node {
        if let place = keyTexts.place(of: text, hash, in: bytes) {
            return Node(.string, offset: 0, payload: place, count: text.count)
        }
        let start = UInt64(bytes.count)
        bytes.append(text)
        keyTexts.keep(start, count: text.count, hash)
        return Node(.string, offset: 0, payload: start, count: text.count)
    }

    /// Adds a string without a limit, for names in code.
    @inline(__always)
    mutating func append(key node: Node) -> Int {
        nodes.append(node)
        return nodes.count &- 1
    }

    /// Gives a node its contents, in its place.
    mutating func fill(_ index: Int, _ node: Node) {
        var node = node
        node.next = nodes[index].next
        nodes[index] = node
    }

    @inline(__always)
    mutating func setNext(_ index: Int, _ next: Int) { nodes[index].next = UInt32(truncatingIfNeeded: next) }

    /// Whether two strings have the same text.
    @inline(__always)
    func haveSameText(_ left: Node, _ right: Node) -> Bool {
        left.count == right.count
            && (left.payload == right.payload || bytes.part(left.range).isEqual(to: bytes.part(right.range)))
    }

    /// Appends the bytes of a text, and returns the place of the first one.
    @inline(__always)
    private mutating func append(_ text: String) -> Int {
        let start = bytes.count
        var text = text
        text.withUTF8 { bytes.append($0) }
        return start
    }

    mutating func string(_ text: String, offset: Int = 0) throws(PropertyListError) -> Int {
        let start = append(text)
        return try append(Node(.string, offset: offset, payload: UInt64(start), count: bytes.count - start))
    }
}

extension NodeBuilder {
    mutating func data(_ data: Data) throws(PropertyListError) -> Int {
        let start = bytes.count
        bytes.append(data)
        return try append(Node(.data, offset: 0, payload: UInt64(start), count: bytes.count - start))
    }

    mutating func date(_ date: Date) throws(PropertyListError) -> Int {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else {
            throw PropertyListError(.notRepresentable, "date that is not a finite number")
        }
        return try append(Node(.date, offset: 0, payload: seconds.bitPattern))
    }
}

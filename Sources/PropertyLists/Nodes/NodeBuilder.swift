import Foundation

/// Builds a table of nodes.
struct NodeBuilder {
    private(set) var nodes: [Node] = []
    var bytes: [UInt8]
    let limit: Int

    init(bytes: [UInt8] = [], limits: PropertyListLimits = PropertyListLimits()) {
        self.bytes = bytes
        limit = limits.values
        nodes.reserveCapacity(min(bytes.count / 8 + 8, 1 << 16))
    }

    /// Adds a value that is nobody's member yet, and returns its index.
    @inline(__always)
    mutating func append(_ node: Node) throws(PropertyListError) -> Int {
        guard nodes.count < limit else {
            throw PropertyListError(.limitExceeded, "more than \(limit) values", offset: Int(node.offset))
        }
        nodes.append(node)
        return nodes.count &- 1
    }

    /// Adds a member to a container, behind `last`, its last one so far, if any.
    @inline(__always)
    mutating func link(_ member: Int, to container: Int, after last: Int?) {
        if let last {
            nodes[last].next = UInt32(truncatingIfNeeded: member)
        } else {
            nodes[container].payload = UInt64(truncatingIfNeeded: member)
        }
    }

    @inline(__always)
    mutating func setCount(_ count: Int, of container: Int) {
        nodes[container].count = UInt32(truncatingIfNeeded: count)
    }

    /// Replaces a container whose members are the last of the table.
    mutating func replace(_ index: Int, by node: Node) {
        nodes.removeSubrange((index + 1)...)
        nodes[index] = node
    }

    /// An empty dictionary, filled later.
    mutating func placeholder() -> Int {
        nodes.append(Node(.dictionary, offset: 0))
        return nodes.count - 1
    }

    /// A string without a limit, for names in code.
    mutating func key(_ text: String) -> Int {
        let start = append(text)
        nodes.append(Node(.string, offset: 0, payload: UInt64(start), count: bytes.count - start))
        return nodes.count - 1
    }

    /// Gives a node its contents, in its place.
    mutating func fill(_ index: Int, _ node: Node) {
        var node = node
        node.next = nodes[index].next
        nodes[index] = node
    }

    @inline(__always)
    mutating func setNext(_ index: Int, _ next: Int) { nodes[index].next = UInt32(truncatingIfNeeded: next) }

    /// Whether a node is the string with the UTF-8 bytes `text`.
    @inline(__always)
    func hasText(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let node = nodes[index]
        guard node.length == text.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            guard let other = text.baseAddress, let all = bytes.baseAddress else { return true }
            return memcmp(all + bytes[node.range].startIndex, other, text.count) == 0
        }
    }

    /// Appends the bytes of a text, and returns the place of the first one.
    @inline(__always)
    private mutating func append(_ text: String) -> Int {
        let start = bytes.count
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
        return start
    }

    mutating func string(_ text: String, offset: Int = 0) throws(PropertyListError) -> Int {
        let start = append(text)
        return try append(Node(.string, offset: offset, payload: UInt64(start), count: bytes.count - start))
    }
}

extension NodeBuilder {
    mutating func data(_ data: some Collection<UInt8>) throws(PropertyListError) -> Int {
        let start = bytes.count
        bytes.append(contentsOf: data)
        return try append(Node(.data, offset: 0, payload: UInt64(start), count: bytes.count - start))
    }

    mutating func date(_ date: Date) throws(PropertyListError) -> Int {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else { throw PropertyListError(.notRepresentable, "date that is no finite number") }
        return try append(Node(.date, offset: 0, payload: seconds.bitPattern))
    }

    /// Writers call themselves for each container within another.
    static func check(depth: Int) throws(PropertyListError) {
        guard depth < 512 else { throw PropertyListError(.limitExceeded, "more than 512 containers in each other") }
    }
}

import Foundation

/// Makes a tree of values from a table.
struct TreeReader {
    private let table: NodeTable
    /// The first byte of each line; none in a binary list.
    private var lines: [Int] = []
    /// The line of the value before, from 0.
    private var line = 0
    /// The containers around the value that is being made.
    private var depth = 0

    init(_ table: NodeTable) {
        self.table = table
        guard table.format != .binary else { return }
        let bytes = table.bytes.all
        lines = [0]
        for at in bytes.indices where bytes[at] <= 0x0D {
            let isEnd =
                bytes[at] == 0x0A || (bytes[at] == 0x0D && !(at + 1 < bytes.count && bytes[at + 1] == 0x0A))
            if isEnd { lines.append(at + 1) }
        }
    }

    private mutating func position(_ node: Node) -> PropertyListPosition {
        let offset = Int(node.offset)
        guard !lines.isEmpty else { return PropertyListPosition(offset: offset, line: 0, column: 0) }
        // Values are asked for in the order of the text.
        if offset < lines[line] || (line + 8 < lines.count && lines[line + 8] <= offset) { line = search(offset) }
        while line + 1 < lines.count, lines[line + 1] <= offset { line += 1 }
        return PropertyListPosition(offset: offset, line: line + 1, column: offset - lines[line] + 1)
    }

    /// The line of an offset, or one before it.
    private func search(_ offset: Int) -> Int {
        var (low, high) = (0, lines.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lines[middle] <= offset { low = middle } else { high = middle }
        }
        return low
    }

    /// - Throws: `.limitExceeded` if the containers in each other need more stack than this thread has left.
    mutating func tree(_ node: Node) throws(PropertyListError) -> PropertyList {
        let position = position(node)
        var tree = PropertyList(try value(node))
        tree.position = position
        return tree
    }

    private mutating func value(_ node: Node) throws(PropertyListError) -> PropertyList.Value {
        switch node.kind {
        case .null: return .null
        case .bool: return .bool(node.payload != 0)
        case .integer: return .integer(Int64(bitPattern: node.payload))
        case .unsigned: return .unsigned(node.payload)
        case .float: return .real(Double(node.float))
        case .real: return .real(node.real)
        case .date: return .date(Date(timeIntervalSinceReferenceDate: node.real))
        case .data: return .data(table.data(node))
        case .string: return .string(table.text(node))
        case .uid: return .uid(UInt32(truncatingIfNeeded: node.payload))
        case .array: return .array(try members(node))
        case .set: return .set(try members(node))
        case .dictionary: return .dictionary(try entries(node))
        }
    }

    private mutating func enter(_ node: Node) throws(PropertyListError) {
        try PropertyListLimits.check(depth: depth, offset: Int(node.offset))
        depth += 1
    }

    private mutating func entries(_ node: Node) throws(PropertyListError) -> [PropertyList.Entry] {
        try enter(node)
        var entries: [PropertyList.Entry] = []
        entries.reserveCapacity(node.length)
        var key = node.start
        while key != 0 {
            let name = table.nodes[key]
            let member = table.nodes[Int(name.next)]
            let position = position(name)
            var entry = PropertyList.Entry(key: table.text(name), value: try tree(member))
            entry.position = position
            entries.append(entry)
            key = Int(member.next)
        }
        depth -= 1
        return entries
    }

    private mutating func members(_ node: Node) throws(PropertyListError) -> [PropertyList] {
        try enter(node)
        var members: [PropertyList] = []
        members.reserveCapacity(node.length)
        var index = node.start
        while index != 0 {
            let member = table.nodes[index]
            members.append(try tree(member))
            index = Int(member.next)
        }
        depth -= 1
        return members
    }
}

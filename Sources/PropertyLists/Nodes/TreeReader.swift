import Foundation

/// Makes a tree of values from a table.
struct TreeReader {
    private let table: NodeTable
    /// The first byte of each line; none in a binary list.
    private var lines: [Int] = []

    init(_ table: NodeTable) {
        self.table = table
        guard table.format != .binary else { return }
        lines = [0]
        let bytes = table.bytes
        for at in bytes.indices {
            let isEnd = bytes[at] == 0x0A || (bytes[at] == 0x0D && !(at + 1 < bytes.count && bytes[at + 1] == 0x0A))
            if isEnd { lines.append(at + 1) }
        }
    }

    private func position(_ node: Node) -> PropertyListPosition {
        let offset = Int(node.offset)
        guard !lines.isEmpty else { return PropertyListPosition(offset: offset, line: 0, column: 0) }
        var (low, high) = (0, lines.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lines[middle] <= offset { low = middle } else { high = middle }
        }
        return PropertyListPosition(offset: offset, line: low + 1, column: offset - lines[low] + 1)
    }

    func tree(_ node: Node) -> PropertyList {
        var tree = PropertyList(value(node))
        tree.position = position(node)
        return tree
    }

    private func value(_ node: Node) -> PropertyList.Value {
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
        case .array: return .array(members(node))
        case .set: return .set(members(node))
        case .dictionary:
            var entries: [PropertyList.Entry] = []
            entries.reserveCapacity(node.length)
            var key = node.start
            while key != 0 {
                let name = table.nodes[key]
                let member = table.nodes[Int(name.next)]
                var entry = PropertyList.Entry(key: table.text(name), value: tree(member))
                entry.position = position(name)
                entries.append(entry)
                key = Int(member.next)
            }
            return .dictionary(entries)
        }
    }

    private func members(_ node: Node) -> [PropertyList] {
        var members: [PropertyList] = []
        members.reserveCapacity(node.length)
        var index = node.start
        while index != 0 {
            let member = table.nodes[index]
            members.append(tree(member))
            index = Int(member.next)
        }
        return members
    }
}

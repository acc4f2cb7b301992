/// Finds the members of a dictionary by key; mostly they are asked for in order.
final class MemberFinder {
    private let table: NodeTable
    private let node: Node
    private let first: Int
    private var next: Int
    /// Values by key, where searching would take too long, keys are there twice, or equal texts may have other bytes.
    private var members: [String: Int]?
    private lazy var hasASCIIKeys = table.hasASCIIKeys(node)

    init(_ table: NodeTable, _ node: Node) {
        self.table = table
        self.node = node
        first = node.start
        next = node.start
        if node.length > 12 || hasDuplicates { members = readMembers() }
    }

    private func after(_ key: Int) -> Int { Int(table.nodes[Int(table.nodes[key].next)].next) }

    private var hasDuplicates: Bool {
        var key = first
        while key != 0 {
            let text = table.bytes.part(table.nodes[key].range)
            var other = after(key)
            while other != 0 {
                if table.haveSameBytes(table.nodes[other], text) { return true }
                other = after(other)
            }
            key = after(key)
        }
        return false
    }

    private func readMembers() -> [String: Int] {
        var members: [String: Int] = [:]
        var key = first
        while key != 0 {
            let name = table.text(table.nodes[key])
            if table.lastDuplicateCounts || members[name] == nil { members[name] = Int(table.nodes[key].next) }
            key = after(key)
        }
        return members
    }

    func member(_ name: String) -> Int? {
        if let members { return members[name] }
        var name = name
        let (found, isASCII) = name.withUTF8 { bytes in
            let text = ByteView(bytes)
            let found = member(text)
            return (found, found != nil || text.isASCII)
        }
        if found != nil || (isASCII && hasASCIIKeys) { return found }
        let members = readMembers()
        self.members = members
        return members[name]
    }

    private func member(_ text: ByteView) -> Int? {
        let start = next == 0 ? first : next
        var key = start
        while key != 0 {
            let following = after(key)
            if table.haveSameBytes(table.nodes[key], text) {
                next = following
                return Int(table.nodes[key].next)
            }
            key = following
        }
        key = first
        while key != start {
            if table.haveSameBytes(table.nodes[key], text) {
                next = after(key)
                return Int(table.nodes[key].next)
            }
            key = after(key)
        }
        return nil
    }

    var names: [String] {
        if let members { return Array(members.keys) }
        var names: [String] = []
        var key = first
        while key != 0 {
            names.append(table.text(table.nodes[key]))
            key = after(key)
        }
        return names
    }
}

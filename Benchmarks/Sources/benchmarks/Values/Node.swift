import Foundation

/// A part of a graph of objects.
final class Node: NSObject, NSCoding {
    let name: String
    let children: [Node]
    /// Refers to a node that others refer to as well.
    let shared: Node?

    init(name: String, children: [Node], shared: Node?) {
        self.name = name
        self.children = children
        self.shared = shared
    }

    required init?(coder: NSCoder) {
        guard let name = coder.decodeObject(forKey: "name") as? String,
            let children = coder.decodeObject(forKey: "children") as? [Node]
        else { return nil }
        self.name = name
        self.children = children
        shared = coder.decodeObject(forKey: "shared") as? Node
    }

    func encode(with coder: NSCoder) {
        coder.encode(name, forKey: "name")
        coder.encode(children, forKey: "children")
        coder.encode(shared, forKey: "shared")
    }

    /// The root of a graph of 1,000 nodes: a binary tree with inner nodes that refer to leaves as well. There are no
    /// cycles.
    static func graph() -> Node {
        let count = 1_000
        var nodes: [Int: Node] = [:]
        for index in (0..<count).reversed() {
            let isLeaf = 2 * index + 1 >= count
            nodes[index] = Node(
                name: "node \(index)",
                children: [2 * index + 1, 2 * index + 2].compactMap { nodes[$0] },
                shared: isLeaf ? nil : nodes[count / 2 + index * 37 % (count / 2)]
            )
        }
        return nodes[0] ?? Node(name: "none", children: [], shared: nil)
    }
}

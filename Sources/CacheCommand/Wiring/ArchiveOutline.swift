import KeyedArchive

/// Reads an archive as a tree of named objects with their classes: what `dump` prints.
///
/// An object is shown where it is met first; from then on only its number is.
struct ArchiveOutline {
    private static let depthLimit = 1_000

    private let tree: ArchiveTree
    private var shown: Set<Int> = []
    private var depth = 0

    init(_ tree: ArchiveTree) { self.tree = tree }

    /// The archive's root, or all its roots below one node.
    mutating func root() throws -> ArchiveNode {
        if tree.roots.count == 1 { return try node(tree.roots[0].key, tree.roots[0].value) }
        let children = try tree.roots.map { try node($0.key, $0.value) }
        return ArchiveNode(label: "$top", content: .object(type: "archive", identifier: 0, children: children))
    }

    private mutating func node(_ label: String, _ value: ArchiveTree.Value) throws -> ArchiveNode {
        switch value {
        case .array(let members):
            return ArchiveNode(label: label, content: .list(try numbered(members)))
        case .dictionary(let fields):
            return ArchiveNode(label: label, content: .list(try fields.map { try node($0.key, $0.value) }))
        case .reference(let place):
            return try object(label, place)
        default:
            return ArchiveNode(label: label, content: .value(value.scalar ?? .null))
        }
    }

    private mutating func object(_ label: String, _ place: Int) throws -> ArchiveNode {
        switch tree.objects[place] {
        case .value(let value): return try node(label, value)
        case .classDescription: return ArchiveNode(label: label, content: .value(.string("a class")))
        case .instance(let name, let fields):
            if let scalar = tree.scalar(name, fields) { return ArchiveNode(label: label, content: .value(scalar)) }
            guard shown.insert(place).inserted else {
                return ArchiveNode(label: label, content: .reference(identifier: place))
            }
            guard depth < Self.depthLimit else { throw CommandFailure.tooEntangled }
            depth += 1
            defer { depth -= 1 }
            let children: [ArchiveNode]
            if let members = tree.members(name, fields) {
                children = try numbered(members)
            } else {
                children = try (tree.entries(name, fields) ?? fields).map { try node($0.key, $0.value) }
            }
            return ArchiveNode(label: label, content: .object(type: name, identifier: place, children: children))
        }
    }

    private mutating func numbered(_ members: [ArchiveTree.Value]) throws -> [ArchiveNode] {
        try members.enumerated().map { try node("\($0.offset)", $0.element) }
    }
}

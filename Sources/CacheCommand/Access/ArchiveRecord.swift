import KeyedArchive

/// Reads an archive as the value that it stands for, classes left aside.
struct ArchiveRecord {
    /// How many values are written out at most: objects that are referred to twice are written twice.
    private static let valueLimit = 1 << 20
    private static let depthLimit = 1_000

    /// Objects contain themselves, or refer to the same ones too often, to be written out.
    struct Entangled: Error {}

    private let tree: ArchiveTree
    private var open: Set<Int> = []
    private var count = 0

    init(_ tree: ArchiveTree) { self.tree = tree }

    /// The archive's root, or all its roots under their keys.
    mutating func value() throws(Entangled) -> RecordValue {
        if tree.roots.count == 1 { return try value(tree.roots[0].value) }
        return .object(try record(tree.roots.map { ($0.name, $0.value) }))
    }

    private mutating func record(_ values: [(name: String, value: ArchiveTree.Value)]) throws(Entangled) -> Record {
        var record = Record()
        for (name, value) in values {
            record.fields.append(RecordField(name: name, value: try self.value(value)))
        }
        return record
    }

    private mutating func value(_ value: ArchiveTree.Value) throws(Entangled) -> RecordValue {
        count += 1
        guard count <= Self.valueLimit else { throw Entangled() }
        if let scalar = tree.scalar(value) { return RecordValue(scalar) }
        if let text = tree.absoluteText(ofURL: value) { return .string(text) }
        guard case .reference(let place) = value else { return try whole(value) }
        if case .classDescription? = tree.object(place) { return .null }
        guard open.count < Self.depthLimit, open.insert(place).inserted else { throw Entangled() }
        defer { open.remove(place) }
        return try whole(value)
    }

    /// A value with all that it holds.
    private mutating func whole(_ value: ArchiveTree.Value) throws(Entangled) -> RecordValue {
        let children = tree.children(of: value)
        if tree.members(value) != nil {
            var values: [RecordValue] = []
            for child in children { values.append(try self.value(child.value)) }
            return .array(values)
        }
        return .object(try record(children))
    }
}

import Foundation
import KeyedArchive

/// Reads an archive as the value that it stands for, classes left aside: what `get` prints.
struct ArchiveRecord {
    /// How many values are written out at most: objects that are referred to twice are written twice.
    private static let valueLimit = 1 << 20
    private static let depthLimit = 1_000

    private let tree: ArchiveTree
    private var open: Set<Int> = []
    private var count = 0

    init(_ tree: ArchiveTree) { self.tree = tree }

    /// The archive's root, or all its roots under their keys.
    ///
    /// - Throws: `.tooEntangled` if objects contain themselves, or refer to the same ones too often.
    mutating func value() throws -> RecordValue {
        if tree.roots.count == 1 { return try value(tree.roots[0].value) }
        return .object(try record(tree.roots.map { ($0.name, $0.value) }))
    }

    private mutating func record(_ values: [(name: String, value: ArchiveTree.Value)]) throws -> Record {
        var record = Record()
        for (name, value) in values {
            record.fields.append(RecordField(name: name, value: try self.value(value)))
        }
        return record
    }

    private mutating func value(_ value: ArchiveTree.Value) throws -> RecordValue {
        count += 1
        guard count <= Self.valueLimit else { throw CommandFailure.tooEntangled }
        if let scalar = tree.scalar(value) { return RecordValue(scalar) }
        guard case .reference(let place) = value else { return try whole(value) }
        if case .classDescription? = tree.object(place) { return .null }
        guard open.count < Self.depthLimit, open.insert(place).inserted else { throw CommandFailure.tooEntangled }
        defer { open.remove(place) }
        return try whole(value)
    }

    /// A value with all that it holds.
    private mutating func whole(_ value: ArchiveTree.Value) throws -> RecordValue {
        let children = tree.children(of: value)
        if tree.members(value) != nil { return .array(try children.map { try self.value($0.value) }) }
        return .object(try record(children))
    }
}

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
        return .object(try record(tree.roots))
    }

    private mutating func record(_ fields: [ArchiveTree.Field]) throws -> Record {
        var record = Record()
        for field in fields {
            record.fields.append(RecordField(name: field.key, value: try value(field.value)))
        }
        return record
    }

    private mutating func value(_ value: ArchiveTree.Value) throws -> RecordValue {
        count += 1
        guard count <= Self.valueLimit else { throw CommandFailure.tooEntangled }
        switch value {
        case .array(let members): return .array(try members.map { try self.value($0) })
        case .dictionary(let fields): return .object(try record(fields))
        case .reference(let place): return try object(place)
        default: return value.scalar ?? .null
        }
    }

    private mutating func object(_ place: Int) throws -> RecordValue {
        switch tree.objects[place] {
        case .value(let value): return try self.value(value)
        case .classDescription: return .null
        case .instance(let name, let fields):
            if let scalar = tree.scalar(name, fields) { return scalar }
            guard open.count < Self.depthLimit, open.insert(place).inserted else {
                throw CommandFailure.tooEntangled
            }
            defer { open.remove(place) }
            if let members = tree.members(name, fields) {
                return .array(try members.map { try value($0) })
            }
            if let entries = tree.entries(name, fields) { return .object(try record(entries)) }
            return .object(try record(fields))
        }
    }
}

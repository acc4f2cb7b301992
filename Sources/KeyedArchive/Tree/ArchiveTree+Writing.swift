import Foundation
import PropertyLists

extension ArchiveTree {
    /// Writes the tree as an archive: the same places, classes and values that it has here.
    ///
    /// - Parameter format: `.binary` or `.xml`. XML has no numbers of 4 bytes, so that ``PropertyListValue/float(_:)`` is
    ///   read from it as ``PropertyListValue/real(_:)`` of the same value.
    /// - Throws: ``ArchiveError`` with code `.corrupted` if the tree does not hold together: a reference to a
    ///   place that is not there, or an instance of something that is not a class; `.unsupportedType` for a value that
    ///   cannot stand where it does, such as the text `$null` as an object, and for values that XML cannot hold;
    ///   `.unsupportedFormat` for another format; `.limitExceeded` if values nest more than 200 deep.
    /// - Complexity: O(*n*) in the tree's values.
    public func archivedData(
        as format: PropertyListFormat = .binary
    ) throws(ArchiveError) -> Data {
        var writer = ArchiveTreeWriter(self)
        let archive = Data(try writer.write())
        return format == .binary ? archive : try KeyedArchiver.convert(archive, to: format)
    }
}

private struct ArchiveTreeWriter: ~Copyable {
    private typealias Reference = BinaryPropertyListWriter.Reference

    private let tree: ArchiveTree
    private var builder = PropertyListBuilder()
    /// The property-list object that refers to each place, once there is one.
    private var uids: [Reference?]

    init(_ tree: ArchiveTree) {
        self.tree = tree
        uids = [Reference?](repeating: nil, count: tree.objects.count)
    }

    mutating func write() throws(ArchiveError) -> [UInt8] {
        guard UInt32(exactly: tree.objects.count) != nil else {
            throw ArchiveError(.limitExceeded, "more objects than references can tell apart")
        }
        let top = try dictionary(tree.roots, depth: 0)
        var objects: [Reference] = []
        objects.reserveCapacity(tree.objects.count)
        for object in tree.objects { objects.append(try add(object)) }
        let parts = [
            KeyedReference(key: builder.add("$version", as: .name), value: builder.list.add(constant: 100_000)),
            KeyedReference(
                key: builder.add("$archiver", as: .name),
                value: builder.add("NSKeyedArchiver", as: .name)
            ),
            KeyedReference(key: builder.add("$top", as: .name), value: top),
            KeyedReference(key: builder.add("$objects", as: .name), value: builder.add(array: objects)),
        ]
        return builder.finish(top: builder.add(dictionary: parts))
    }

    private mutating func add(_ object: ArchiveTree.Object) throws(ArchiveError) -> Reference {
        switch object {
        case .empty: return builder.add("$null", as: .name)
        case .value(.string("$null")):
            throw ArchiveError(.unsupportedType, "the text $null as an object, which stands for nil")
        case .value(.dictionary):
            throw ArchiveError(.unsupportedType, "an object that is a dictionary without a class")
        case .value(let value): return try add(value, depth: 0)
        case .instance(let instance):
            guard tree.objects.indices.contains(instance.classPlace),
                case .classDescription = tree.objects[instance.classPlace]
            else { throw ArchiveError(.corrupted, "object of something that is not a class") }
            if instance.fields.contains(where: { $0.key == "$class" }) {
                throw ArchiveError(.unsupportedType, "a field under the key of the class")
            }
            var entries = try self.entries(instance.fields, depth: 0)
            let reference = try add(.reference(instance.classPlace), depth: 0)
            entries.append(KeyedReference(key: builder.add("$class", as: .name), value: reference))
            return builder.add(dictionary: entries)
        case .classDescription(let description):
            var entries = [
                KeyedReference(
                    key: builder.add("$classname", as: .name),
                    value: builder.add(description.name, as: .name)
                )
            ]
            for (key, names) in [("$classes", description.chain), ("$classhints", description.hints)] {
                if names.isEmpty { continue }
                var members: [Reference] = []
                for name in names { members.append(builder.add(name, as: .name)) }
                entries.append(KeyedReference(key: builder.add(key, as: .name), value: builder.add(array: members)))
            }
            return builder.add(dictionary: entries)
        }
    }

    private mutating func entries(
        _ fields: [ArchiveTree.Field],
        depth: Int
    ) throws(ArchiveError) -> [KeyedReference] {
        var entries: [KeyedReference] = []
        entries.reserveCapacity(fields.count + 1)
        for field in fields {
            let key = builder.add(field.key, as: .name)
            entries.append(KeyedReference(key: key, value: try add(field.value, depth: depth)))
        }
        return entries
    }

    private mutating func dictionary(
        _ fields: [ArchiveTree.Field],
        depth: Int
    ) throws(ArchiveError) -> Reference {
        builder.add(dictionary: try entries(fields, depth: depth))
    }

    private mutating func members(
        _ values: [ArchiveTree.Value],
        depth: Int
    ) throws(ArchiveError) -> [Reference] {
        var members: [Reference] = []
        members.reserveCapacity(values.count)
        for value in values { members.append(try add(value, depth: depth)) }
        return members
    }

    private mutating func add(_ value: ArchiveTree.Value, depth: Int) throws(ArchiveError) -> Reference {
        guard depth < ArchiveTree.listDepthLimit else {
            throw ArchiveError(.limitExceeded, "lists nest more than \(ArchiveTree.listDepthLimit) deep")
        }
        try NestingLimit.checkStack(at: depth)
        switch value {
        case .null: return builder.list.addNull()
        case .bool(let value): return builder.list.add(value)
        case .integer(let value): return builder.list.add(value)
        case .unsigned(let value): return builder.list.add(value)
        case .float(let value): return builder.list.add(value)
        case .real(let value): return builder.list.add(value)
        case .string(let value): return builder.add(value)
        case .data(let value): return builder.add(value)
        case .date(let value): return builder.list.add(date: value.timeIntervalSinceReferenceDate)
        case .array(let values): return builder.add(array: try members(values, depth: depth + 1))
        case .set(let values): return builder.add(set: try members(values, depth: depth + 1))
        case .dictionary(let fields): return try dictionary(fields, depth: depth + 1)
        case .reference(let place):
            guard tree.objects.indices.contains(place) else {
                throw ArchiveError(.corrupted, "reference to object \(place) of \(tree.objects.count)")
            }
            if let known = uids[place] { return known }
            let made = builder.list.add(uid: UInt32(place))
            uids[place] = made
            return made
        }
    }
}

import Foundation

extension ArchiveTree {
    /// Opens an archive in the binary or the XML form of property lists.
    ///
    /// - Parameter archive: the archive's bytes.
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if the bytes are no property list, or no keyed
    ///   archive; `.unsupportedFormat` for versions and encodings that are not known; `.corrupted` if the archive
    ///   is damaged anywhere; `.outOfRange` for integers beyond 64 bits; `.limitExceeded` if lists nest more than
    ///   200 deep, or if it holds far more than its size can justify.
    /// - Complexity: O(*n*) in the archive's bytes.
    public init(_ archive: Data) throws(ArchiveError) {
        try self.init(archive.withUnsafeBytes { Array($0) })
    }

    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        let source = try ArchiveSource(bytes)
        var reader = ArchiveTreeReader(source)
        do throws(ArchiveError) {
            self = try reader.read()
        } catch {
            throw source.located(error)
        }
    }
}

private struct ArchiveTreeReader {
    private static let depthLimit = 200

    private let source: ArchiveSource
    private let list: BinaryPropertyList
    private var budget: Int

    init(_ source: ArchiveSource) {
        self.source = source
        list = source.list
        budget = ArchiveLimits().references(in: source.list.bytes.count)
    }

    mutating func read() throws(ArchiveError) -> ArchiveTree {
        var tree = ArchiveTree(roots: try fields(source.top, depth: 0), objects: [])
        tree.objects.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            tree.objects.append(try object(list.element(source.objects, index)))
        }
        for (place, object) in tree.objects.enumerated() {
            guard case .instance(let instance) = object else { continue }
            guard case .classDescription = tree.objects[instance.classPlace] else {
                throw corrupted("object of something that is no class", list.element(source.objects, place))
            }
        }
        return tree
    }

    private mutating func spend(_ units: Int) throws(ArchiveError) {
        budget -= units
        if budget < 0 {
            throw ArchiveError(.limitExceeded, "the archive holds far more than its size can justify")
        }
    }

    private func corrupted(_ message: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        ArchiveError(.corrupted, message, offset: try? list.offset(of: reference))
    }

    // MARK: Objects

    private mutating func object(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchiveTree.Object {
        guard case .dictionary(let found) = try list.object(reference) else {
            if try list.isString(reference, "$null") { return .empty }
            return .value(try value(reference, depth: 0))
        }
        try spend(2 * found.count + 1)
        var scope = ArchiveScope(found)
        if let value = try scope.stored("$class", in: list) {
            guard let uid = try list.uid(value) else { throw corrupted("class that is no reference", value) }
            _ = try source.reference(ofObject: uid)
            let fields = try fields(found, depth: 0, without: "$class")
            return .instance(ArchiveTree.Instance(classPlace: Int(uid), fields: fields))
        }
        return .classDescription(
            try source.classDescription(found, at: reference) { units throws(ArchiveError) in try spend(units) }
        )
    }

    // MARK: Values

    private mutating func fields(
        _ fields: BinaryPropertyList.Fields,
        depth: Int,
        without left: String? = nil
    ) throws(ArchiveError) -> [ArchiveTree.Field] {
        var made: [ArchiveTree.Field] = []
        try spend(fields.count)
        made.reserveCapacity(fields.count)
        for index in 0..<fields.count {
            let key = list.key(fields, index)
            guard let name = try list.string(key) else { throw corrupted("key that is no string", key) }
            try spend(name.utf8.count + 1)
            if name == left { continue }
            made.append(ArchiveTree.Field(key: name, value: try value(list.value(fields, index), depth: depth)))
        }
        return made
    }

    private mutating func value(
        _ reference: BinaryPropertyList.Reference,
        depth: Int
    ) throws(ArchiveError) -> ArchiveTree.Value {
        try spend(1)
        guard depth < Self.depthLimit else {
            throw ArchiveError(.limitExceeded, "lists nest more than \(Self.depthLimit) deep")
        }
        switch try list.object(reference) {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .real(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let range):
            try spend(range.count)
            return .data(list.bytes.data(in: range))
        case .ascii(let range):
            try spend(range.count)
            return .string(try list.string(ascii: range))
        case .utf16(let range):
            try spend(range.count)
            return .string(try list.string(utf16: range))
        case .uid(let uid):
            _ = try source.reference(ofObject: uid)
            return .reference(Int(uid))
        case .array(let run): return .array(try values(run, depth: depth))
        case .set(let run): return .set(try values(run, depth: depth))
        case .dictionary(let found): return .dictionary(try fields(found, depth: depth + 1))
        }
    }

    private mutating func values(
        _ run: BinaryPropertyList.References,
        depth: Int
    ) throws(ArchiveError) -> [ArchiveTree.Value] {
        var members: [ArchiveTree.Value] = []
        for index in 0..<run.count { members.append(try value(list.element(run, index), depth: depth + 1)) }
        return members
    }
}

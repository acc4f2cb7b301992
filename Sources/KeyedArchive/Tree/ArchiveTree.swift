import Foundation

/// Any keyed archive, opened without its classes: what tools look at.
///
/// Objects refer to each other by their place in the archive, as they do there, so graphs that share objects or
/// run in circles are nothing special.
package struct ArchiveTree: Sendable {
    /// A named value of an object or of the outermost scope.
    package struct Field: Sendable {
        package let key: String
        package let value: Value

        package init(key: String, value: Value) {
            self.key = key
            self.value = value
        }
    }

    package enum Value: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        case unsigned(UInt64)
        case real(Double)
        case string(String)
        case data(Data)
        case date(Date)
        case array([Value])
        /// A dictionary in the property list itself, which archived objects hardly ever hold.
        case dictionary([Field])
        /// An object, by its place.
        case reference(Int)
    }

    /// What stands in one place.
    package enum Object: Sendable {
        case value(Value)
        /// An object with its class's name, and its own keys as its class gave them.
        case instance(className: String, fields: [Field])
        /// What instances say of their class.
        case classDescription
    }

    /// The outermost scope: the roots under their keys.
    package let roots: [Field]
    package let objects: [Object]

    /// Opens an archive in the binary or the XML form of property lists.
    ///
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if it is neither, or no keyed archive; `.corrupted`
    ///   if it is damaged; `.limitExceeded` if it holds far more than its size can justify.
    /// - Complexity: O(*n*) in the archive's bytes.
    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        let source = try ArchiveSource(bytes)
        var reader = ArchiveTreeReader(source)
        do throws(ArchiveError) {
            (roots, objects) = try reader.read()
        } catch {
            throw source.located(error)
        }
    }
}

private struct ArchiveTreeReader {
    private static let depthLimit = 200

    let source: ArchiveSource
    private var budget: Int
    private var names: [UInt32: String] = [:]

    init(_ source: ArchiveSource) {
        self.source = source
        budget = 1 << 20 + 64 * source.list.bytes.count
    }

    mutating func read() throws(ArchiveError) -> ([ArchiveTree.Field], [ArchiveTree.Object]) {
        let roots = try fields(source.top, depth: 0)
        var objects: [ArchiveTree.Object] = []
        objects.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            objects.append(try object(source.list.element(source.objects, index)))
        }
        return (roots, objects)
    }

    private mutating func spend(_ units: Int) throws(ArchiveError) {
        budget -= units
        if budget < 0 {
            throw ArchiveError(.limitExceeded, "the archive holds far more than its size can justify")
        }
    }

    private mutating func object(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchiveTree.Object {
        guard case .dictionary(let found) = try source.list.object(reference) else {
            if try source.list.isString(reference, "$null") { return .value(.null) }
            return .value(try value(reference, depth: 0))
        }
        try spend(found.count)
        var scope = ArchiveScope(found)
        if let value = try scope.stored("$class", in: source.list) {
            guard let uid = try source.list.uid(value) else {
                throw ArchiveError(
                    .corrupted,
                    "class that is no reference",
                    offset: try source.list.offset(of: value)
                )
            }
            return .instance(className: try className(uid), fields: try fields(found, depth: 0))
        }
        if try scope.stored("$classname", in: source.list) != nil { return .classDescription }
        throw ArchiveError(.corrupted, "object without a class", offset: try source.list.offset(of: reference))
    }

    private mutating func className(_ uid: UInt32) throws(ArchiveError) -> String {
        if let known = names[uid] { return known }
        let reference = try source.reference(ofObject: uid)
        guard case .dictionary(let found) = try source.list.object(reference) else {
            throw ArchiveError(.corrupted, "class without a name", offset: try source.list.offset(of: reference))
        }
        try spend(found.count)
        var scope = ArchiveScope(found)
        guard let value = try scope.stored("$classname", in: source.list),
            let name = try source.list.shortString(value, below: 4_096)
        else {
            throw ArchiveError(.corrupted, "class without a name", offset: try source.list.offset(of: reference))
        }
        names[uid] = name
        return name
    }

    private mutating func fields(
        _ fields: BinaryPropertyList.Fields,
        depth: Int
    ) throws(ArchiveError) -> [ArchiveTree.Field] {
        var made: [ArchiveTree.Field] = []
        made.reserveCapacity(fields.count)
        for index in 0..<fields.count {
            let key = source.list.key(fields, index)
            guard let name = try source.list.string(key) else {
                throw ArchiveError(
                    .corrupted,
                    "key that is no string",
                    offset: try source.list.offset(of: key)
                )
            }
            try spend(name.utf8.count + 1)
            if name == "$class" { continue }
            // Two `$` in front are one of the user's own.
            let shown = name.hasPrefix("$$") ? String(name.dropFirst()) : name
            let value = try value(source.list.value(fields, index), depth: depth)
            made.append(ArchiveTree.Field(key: shown, value: value))
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
        switch try source.list.object(reference) {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .real(Double(value))
        case .double(let value): return .real(value)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let range):
            try spend(range.count)
            return .data(Data(source.list.bytes[range]))
        case .ascii(let range):
            try spend(range.count)
            return .string(try source.list.string(ascii: range))
        case .utf16(let range):
            try spend(range.count)
            return .string(try source.list.string(utf16: range))
        case .uid(let uid):
            _ = try source.reference(ofObject: uid)
            return .reference(Int(uid))
        case .array(let run), .set(let run):
            var members: [ArchiveTree.Value] = []
            for index in 0..<run.count {
                members.append(try value(source.list.element(run, index), depth: depth + 1))
            }
            return .array(members)
        case .dictionary(let found):
            return .dictionary(try fields(found, depth: depth + 1))
        }
    }
}

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
        self = try ArchiveTreeReader.reading(bytes) { reader throws(ArchiveError) in try reader.read() }
    }

    /// As ``init(_:)``, but data in the tree shares the archive's memory, and keeps all of it alive: for a tree that is
    /// looked at and let go.
    package init(sharing archive: Data) throws(ArchiveError) {
        let tree = archive.withUnsafeBytes { buffer in
            Result { () throws(ArchiveError) in
                try ArchiveTreeReader.reading(buffer.bindMemory(to: UInt8.self), shared: archive) {
                    reader throws(ArchiveError) in try reader.read()
                }
            }
        }
        self = try tree.get()
    }

    /// Makes the same checks as opening an archive, without making a tree: takes four bytes for each object.
    ///
    /// - Throws: as ``init(_:)``.
    package static func check(_ bytes: [UInt8]) throws(ArchiveError) {
        try ArchiveTreeReader.reading(bytes, isTrial: true) { reader throws(ArchiveError) in try reader.check() }
    }

    /// Whether an archive may begin with these bytes, at least one.
    ///
    /// - Throws: `.unknownFormat` if neither a binary property list nor XML does.
    package static func check(beginning bytes: [UInt8]) throws(ArchiveError) {
        let magic = BinaryPropertyList.magic
        if bytes.starts(with: magic) || magic.starts(with: bytes) { return }
        // XML: white space, a byte order mark, or a bracket.
        guard let first = bytes.first, [0x09, 0x0A, 0x0D, 0x20, 0x3C, 0xEF, 0xFE, 0xFF].contains(first) else {
            throw ArchiveError(.unknownFormat, "neither a binary nor an XML property list", offset: 0)
        }
    }
}

private struct ArchiveTreeReader {
    private static let depthLimit = 200

    private let source: ArchiveSource
    private let list: BinaryPropertyList
    private let budget = DecodingBudget()
    /// The archive that data values are slices of; `nil` if they are copied.
    private let shared: Data?
    /// Whether values are checked and not kept.
    private let isTrial: Bool

    private init(_ source: ArchiveSource, shared: Data?, isTrial: Bool) {
        self.source = source
        list = source.list
        budget.grant(ArchiveLimits(), byteCount: source.list.bytes.count)
        self.shared = source.isBinary ? shared : nil
        self.isTrial = isTrial
    }

    /// Has `body` read bytes where they are.
    static func reading<Result>(
        _ bytes: [UInt8],
        isTrial: Bool = false,
        _ body: (inout ArchiveTreeReader) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            try reading(buffer, isTrial: isTrial, body)
        }
    }

    /// - Parameter bytes: all that is read is copied from them, so that nothing refers to them afterwards.
    static func reading<Result>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        shared: Data? = nil,
        isTrial: Bool = false,
        _ body: (inout ArchiveTreeReader) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        let source = try ArchiveSource(ArchiveBytes(borrowing: bytes) ?? ArchiveBytes(copying: []))
        var reader = ArchiveTreeReader(source, shared: shared, isTrial: isTrial)
        do throws(ArchiveError) {
            return try body(&reader)
        } catch {
            throw source.located(error)
        }
    }

    mutating func read() throws(ArchiveError) -> ArchiveTree {
        var tree = ArchiveTree(roots: try fields(source.top, depth: 0), objects: [])
        tree.objects.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            tree.objects.append(try object(list.element(source.objects, index)))
        }
        for (place, object) in tree.objects.enumerated() {
            guard case .instance(let instance) = object else { continue }
            guard case .classDescription = tree.objects[instance.classPlace] else { throw classless(place) }
        }
        return tree
    }

    mutating func check() throws(ArchiveError) {
        _ = try fields(source.top, depth: 0)
        let (isClass, isValue) = (UInt32.max, UInt32.max - 1)
        var classPlaces: [UInt32] = []
        classPlaces.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            switch try object(list.element(source.objects, index)) {
            case .instance(let instance): classPlaces.append(UInt32(instance.classPlace))
            case .classDescription: classPlaces.append(isClass)
            case .empty, .value: classPlaces.append(isValue)
            }
        }
        for (place, classPlace) in classPlaces.enumerated() where classPlace < isValue {
            guard classPlaces[Int(classPlace)] == isClass else { throw classless(place) }
        }
    }

    private func classless(_ place: Int) -> ArchiveError {
        corrupted("object of something that is no class", list.element(source.objects, place))
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
        try budget.spend(2 * found.count + 1)
        var scope = ArchiveScope(found)
        if let value = try scope.stored("$class", in: list) {
            guard let uid = try list.uid(value) else { throw corrupted("class that is no reference", value) }
            _ = try source.reference(ofObject: uid)
            let fields = try fields(found, depth: 0, without: "$class")
            return .instance(ArchiveTree.Instance(classPlace: Int(uid), fields: fields))
        }
        return .classDescription(
            try source.classDescription(found, at: reference, budget)
        )
    }

    // MARK: Values

    private mutating func fields(
        _ fields: BinaryPropertyList.Fields,
        depth: Int,
        without left: String? = nil
    ) throws(ArchiveError) -> [ArchiveTree.Field] {
        var made: [ArchiveTree.Field] = []
        try budget.spend(fields.count)
        if !isTrial { made.reserveCapacity(fields.count) }
        for index in 0..<fields.count {
            let key = list.key(fields, index)
            guard let name = try list.string(key) else { throw corrupted("key that is no string", key) }
            try budget.spend(name.utf8.count + 1)
            if name == left { continue }
            let value = try value(list.value(fields, index), depth: depth)
            if !isTrial { made.append(ArchiveTree.Field(key: name, value: value)) }
        }
        return made
    }

    private mutating func value(
        _ reference: BinaryPropertyList.Reference,
        depth: Int
    ) throws(ArchiveError) -> ArchiveTree.Value {
        try budget.spend(1)
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
            try budget.spend(range.count)
            if isTrial { return .null }
            if let shared { return .data(shared[(shared.startIndex + range.lowerBound)...].prefix(range.count)) }
            return .data(list.bytes.data(in: range))
        case .ascii(let range):
            try budget.spend(range.count)
            let text = try list.string(ascii: range)
            return isTrial ? .null : .string(text)
        case .utf16(let range):
            try budget.spend(range.count)
            let text = try list.string(utf16: range)
            return isTrial ? .null : .string(text)
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
        for index in 0..<run.count {
            let member = try value(list.element(run, index), depth: depth + 1)
            if !isTrial { members.append(member) }
        }
        return members
    }
}

/// A keyed archive's parts, checked as far as can be checked without reading the objects.
///
/// Counts no references: the bytes, and the ``origin`` of an archive that was XML, must be kept while it is in use.
struct ArchiveSource: Sendable, BitwiseCopyable {
    let list: BinaryPropertyList
    let objects: BinaryPropertyList.References
    /// The outermost scope.
    let top: BinaryPropertyList.Fields

    /// Finds the four parts of a keyed archive.
    private init(_ list: BinaryPropertyList) throws(ArchiveError) {
        (objects, top) = try Self.parts(list)
        self.list = list
    }

    /// The parts of an archive that follows a plan.
    init(_ list: BinaryPropertyList, _ plan: PlannedSource) {
        self.list = list
        (objects, top) = (plan.objects, plan.scope)
    }

    /// Opens a keyed archive of either form. O(1) in the number of objects for a binary one.
    static func open(_ bytes: ArchiveBytes) throws(ArchiveError) -> OpenedArchive {
        let (list, origin) = try XMLPropertyList.open(bytes)
        do throws(ArchiveError) {
            return OpenedArchive(source: try ArchiveSource(list), origin: origin)
        } catch {
            throw origin?.located(error, in: list) ?? error
        }
    }

    /// Has `body` read an archive of either form where its bytes are, and gives its errors their offsets in these bytes.
    static func reading<Result>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ body: (OpenedArchive) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        let archive = try open(ArchiveBytes(borrowing: bytes))
        return try withExtendedLifetime(archive.origin) { () throws(ArchiveError) in
            do throws(ArchiveError) {
                return try body(archive)
            } catch {
                throw archive.located(error)
            }
        }
    }

    private static func parts(
        _ list: BinaryPropertyList
    ) throws(ArchiveError) -> (objects: BinaryPropertyList.References, top: BinaryPropertyList.Fields) {
        guard case .dictionary(let parts) = try list.object(list.top) else {
            throw ArchiveError(.unknownFormat, "a property list, but no keyed archive")
        }
        if let usual = usualParts(list, parts) { return usual }
        var archiver: BinaryPropertyList.Reference?
        var version: BinaryPropertyList.Reference?
        var top: BinaryPropertyList.Reference?
        var objects: BinaryPropertyList.Reference?
        // First where archivers put them: opening a small archive takes a third of the time that reading it does.
        if parts.count == 4, try list.isString(list.key(parts, 0), "$version"),
            try list.isString(list.key(parts, 1), "$archiver"), try list.isString(list.key(parts, 2), "$top"),
            try list.isString(list.key(parts, 3), "$objects")
        {
            version = list.value(parts, 0)
            archiver = list.value(parts, 1)
            top = list.value(parts, 2)
            objects = list.value(parts, 3)
        }
        for index in 0..<(objects == nil ? min(parts.count, 64) : 0) {
            let key = list.key(parts, index)
            // By length first, which most other keys do not have.
            switch try list.length(of: key) {
            case 4: if try list.isString(key, "$top") { top = list.value(parts, index) }
            case 8:
                if try list.isString(key, "$version") {
                    version = list.value(parts, index)
                } else if try list.isString(key, "$objects") {
                    objects = list.value(parts, index)
                }
            case 9: if try list.isString(key, "$archiver") { archiver = list.value(parts, index) }
            default: break
            }
        }
        guard let archiver, let version, let top, let objects else {
            throw ArchiveError(.unknownFormat, "a property list, but no keyed archive")
        }
        guard try list.isString(archiver, "NSKeyedArchiver") else {
            throw ArchiveError(
                .unsupportedFormat,
                "archive of an unknown archiver",
                offset: try list.offset(of: archiver)
            )
        }
        guard case .integer(100_000) = try list.object(version) else {
            throw ArchiveError(
                .unsupportedFormat,
                "keyed archive of an unknown version",
                offset: try list.offset(of: version)
            )
        }
        guard case .dictionary(let scope) = try list.object(top), case .array(let table) = try list.object(objects)
        else {
            throw ArchiveError(
                .corrupted,
                "$top or $objects is of the wrong kind",
                offset: try list.offset(of: top)
            )
        }
        return (table, scope)
    }

    /// The parts of an archive whose root is as this package's archiver writes it: to find that out takes a third of the
    /// time that each part takes by itself. `nil` leaves the question open.
    private static func usualParts(
        _ list: BinaryPropertyList,
        _ parts: BinaryPropertyList.Fields
    ) -> (objects: BinaryPropertyList.References, top: BinaryPropertyList.Fields)? {
        guard parts.count == 4, let start = list.knownOffset(of: list.key(parts, 0)),
            list.knownOffset(of: list.value(parts, 0)) == start &+ 9,
            list.knownOffset(of: list.key(parts, 1)) == start &+ 14,
            list.knownOffset(of: list.value(parts, 1)) == start &+ 24,
            list.knownOffset(of: list.key(parts, 2)) == start &+ 42,
            list.knownOffset(of: list.key(parts, 3)) == start &+ 47,
            start &+ usualNames.count <= list.table,
            usualNames.withUnsafeBufferPointer({ list.bytes.hold($0, at: start) }),
            case .dictionary(let scope)? = try? list.object(list.value(parts, 2)),
            case .array(let table)? = try? list.object(list.value(parts, 3))
        else { return nil }
        return (table, scope)
    }

    /// The objects `$version`, 100,000, `$archiver`, `NSKeyedArchiver`, `$top` and `$objects`, one after another.
    private static let usualNames: [UInt8] =
        Array("X$version".utf8) + [0x12, 0x00, 0x01, 0x86, 0xA0] + Array("Y$archiver".utf8)
        + [0x5F, 0x10, 0x0F] + Array("NSKeyedArchiverT$topX$objects".utf8)

    /// The property-list object of a UID.
    @inline(__always)
    func reference(ofObject uid: UInt32) throws(ArchiveError) -> BinaryPropertyList.Reference {
        guard uid < objects.count else { throw outOfRange(uid) }
        return list.element(objects, Int(uid))
    }

    // Apart, and `isNull` too, so that the stack that they take is not taken at each level of a graph.
    @inline(never)
    private func outOfRange(_ uid: UInt32) -> ArchiveError {
        ArchiveError(.corrupted, "reference to object \(uid) of \(objects.count)")
    }

    /// Whether an object is the string that stands for nil.
    @inline(never)
    func isNull(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        try list.isString(reference, "$null")
    }

    /// The object that a value refers to, `nil` if it refers to nothing; the value itself if it is not a reference.
    func resolve(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        guard let uid = try list.uid(reference) else { return reference }
        let target = try self.reference(ofObject: uid)
        return try isNull(target) ? nil : target
    }

    /// Whether a value is a reference to nil.
    func isReferenceToNil(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        guard let uid = try list.uid(reference) else { return false }
        return try isNull(self.reference(ofObject: uid))
    }

    /// The number that stands inline or as an object of its own; `nil` if it is not a number.
    func number(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> ArchivedNumber? {
        if let number = list.usualNumber(reference) { return number }
        switch try list.object(reference) {
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .float(let value): return .float(value)
        case .double(let value): return .double(value)
        case .uid(let uid):
            let target = try self.reference(ofObject: uid)
            switch try list.object(target) {
            case .uid: return nil
            default: return try number(at: target)
            }
        default: return nil
        }
    }
}

/// A keyed archive that was opened.
struct OpenedArchive {
    let source: ArchiveSource
    /// Where things stood in an archive that was XML, with the bytes that are read in its place; `nil` for a binary one.
    let origin: XMLOrigin?

    /// An error that is about this archive, with its offset in the archive as it came.
    func located(_ error: ArchiveError) -> ArchiveError { origin?.located(error, in: source.list) ?? error }
}

/// A keyed archive's parts, checked as far as can be checked without reading the objects.
struct ArchiveSource: Sendable {
    let list: BinaryPropertyList
    let objects: BinaryPropertyList.References
    /// The outermost scope.
    let top: BinaryPropertyList.Fields
    /// Where things stood in an archive that was XML.
    private let origin: XMLOrigin?

    /// Opens a keyed archive of either form. O(*n*) in the bytes, which are copied.
    init(_ bytes: [UInt8]) throws(ArchiveError) { try self.init(ArchiveBytes(copying: bytes)) }

    /// Finds the four parts of a keyed archive. O(1) in the number of objects for a binary one.
    init(_ bytes: ArchiveBytes) throws(ArchiveError) {
        let (list, origin) = try XMLPropertyList.open(bytes)
        do throws(ArchiveError) {
            (objects, top) = try Self.parts(list)
        } catch {
            throw origin?.located(error, in: list) ?? error
        }
        self.list = list
        self.origin = origin
    }

    /// Whether the list's bytes are the archive's own: those of XML are made from it.
    var isBinary: Bool { origin == nil }

    /// An error that is about this archive, with its offset in the archive as it came.
    func located(_ error: ArchiveError) -> ArchiveError { origin?.located(error, in: list) ?? error }

    private static func parts(
        _ list: BinaryPropertyList
    ) throws(ArchiveError) -> (objects: BinaryPropertyList.References, top: BinaryPropertyList.Fields) {
        guard case .dictionary(let parts) = try list.object(list.top) else {
            throw ArchiveError(.unknownFormat, "a property list, but no keyed archive")
        }
        var archiver: BinaryPropertyList.Reference?
        var version: BinaryPropertyList.Reference?
        var top: BinaryPropertyList.Reference?
        var objects: BinaryPropertyList.Reference?
        for index in 0..<min(parts.count, 64) {
            let key = list.key(parts, index)
            // By length first: opening a small archive takes a third of the time that reading it does.
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
}

/// The keys of one object while it is decoded.
///
/// Objects are mostly decoded in the order in which they were encoded, so the search for a key begins behind the
/// key that was found last, and ends there mostly.
struct ArchiveScope {
    let fields: BinaryPropertyList.Fields
    private var cursor = 0
    /// The number of the next unkeyed value.
    private var unkeyed = 0
    /// The positions of all keys, made once a large object is not read in order.
    private var index: [String: Int]?

    private static let scanLimit = 64
    private static let indexedKeyLength = 256

    init(_ fields: BinaryPropertyList.Fields) { self.fields = fields }

    /// The value of a key as the user gave it, or `nil`.
    ///
    /// - Parameter order: where the keys of other objects were found.
    mutating func value(
        of key: String,
        in list: BinaryPropertyList,
        _ order: inout KeyOrder
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        let last = cursor
        let guess = order.position(after: last, of: fields.count)
        if guess < fields.count, list.isKey(fields, guess, key) {
            cursor = guess + 1
            return list.value(fields, guess)
        }
        guard let value = try stored(key.utf8.first == 0x24 ? "$" + key : key, in: list) else { return nil }
        order.note(cursor - 1, after: last, of: fields.count)
        return value
    }

    /// The value of a key as the user gave it, or `nil`.
    mutating func value(
        of key: String,
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if cursor < fields.count, list.isKey(fields, cursor, key) {
            cursor += 1
            return list.value(fields, cursor - 1)
        }
        return try stored(key.utf8.first == 0x24 ? "$" + key : key, in: list)
    }

    /// The next value that was encoded without a key, or `nil`.
    mutating func nextUnkeyed(
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        defer { unkeyed += 1 }
        return try stored("$\(unkeyed)", in: list)
    }

    /// The value of a key as it stands in the archive, or `nil`.
    mutating func stored(
        _ key: String,
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        let count = fields.count
        let isIndexed = count > Self.scanLimit && key.utf8.count < Self.indexedKeyLength
        var text = key
        let found: Result<Int?, ArchiveError> = text.withUTF8 { [fields, cursor] utf8 in
            Result { () throws(ArchiveError) in
                try list.position(of: utf8, in: fields, from: cursor, steps: isIndexed ? 1 : count)
            }
        }
        var position = try found.get()
        if position == nil, isIndexed { position = try look(up: key, in: list) }
        guard let position else { return nil }
        cursor = position + 1
        return list.value(fields, position)
    }

    private mutating func look(up key: String, in list: BinaryPropertyList) throws(ArchiveError) -> Int? {
        if index == nil {
            var made: [String: Int] = [:]
            for position in (0..<fields.count).reversed() {
                if let text = try list.shortString(list.key(fields, position), below: Self.indexedKeyLength) {
                    made[text] = position
                }
            }
            index = made
        }
        guard let position = index?[key] else { return nil }
        if try list.isString(list.key(fields, position), equalTo: key) { return position }
        // Another key that looks the same: the index takes composed and decomposed letters for equal.
        for other in 0..<fields.count where try list.isString(list.key(fields, other), equalTo: key) {
            return other
        }
        return nil
    }
}

/// Where keys were found in the objects before: those of a class are read in the same order each time, though
/// perhaps in another one than they were written.
///
/// These are guesses, which objects of other classes may spoil. They begin anew with each archive, so that an
/// archive is always read in the same way.
struct KeyOrder {
    /// Where the search ended, plus 1, by where it began and how many keys there are; 0 for nowhere yet.
    private var positions = SIMD64<UInt8>()

    /// The position to look at first.
    @inline(__always)
    func position(after last: Int, of count: Int) -> Int {
        let known = positions[slot(last, count)]
        return known == 0 ? last : Int(known) &- 1
    }

    mutating func note(_ position: Int, after last: Int, of count: Int) {
        if position < 255 { positions[slot(last, count)] = UInt8(position + 1) }
    }

    @inline(__always)
    private func slot(_ last: Int, _ count: Int) -> Int { (last &+ 13 &* count) & 63 }
}

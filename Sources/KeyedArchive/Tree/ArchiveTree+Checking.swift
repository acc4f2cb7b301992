extension ArchiveTree {
    /// How deep lists may nest in lists: each level takes stack that no other check limits.
    static var listDepthLimit: Int { 200 }

    /// Makes the same checks as opening an archive, without making a tree: takes four bytes for each object.
    ///
    /// - Throws: as ``init(_:)``.
    package static func check(_ bytes: [UInt8]) throws(ArchiveError) {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            try ArchiveSource.reading(buffer) { archive throws(ArchiveError) in
                try ArchiveChecker(archive.source).check()
            }
        }
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

/// Takes the steps of `ArchiveTreeReader`, with the same budget, limits and errors, but copies no text and keeps
/// nothing: most of the time of reading a small archive goes into its strings and lists.
private struct ArchiveChecker {
    private let source: ArchiveSource
    private let budget = DecodingBudget()
    private var list: BinaryPropertyList { source.list }

    init(_ source: ArchiveSource) {
        self.source = source
        budget.grant(ArchiveLimits(), byteCount: source.list.bytes.count)
    }

    func check() throws(ArchiveError) {
        try checkFields(source.top, depth: 0, isInstance: false)
        let (isClass, isValue) = (UInt32.max, UInt32.max - 1)
        var classPlaces: [UInt32] = []
        classPlaces.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            let reference = list.element(source.objects, index)
            let object = try list.object(reference)
            guard case .dictionary(let found) = object else {
                if try !isNull(object, reference) {
                    try budget.spend(1)
                    try checkContent(of: object, depth: 0)
                }
                classPlaces.append(isValue)
                continue
            }
            try budget.spend(2 * found.count + 1)
            if let value = try list.value(of: "$class", in: found) {
                classPlaces.append(try source.classPlace(at: value))
                try checkFields(found, depth: 0, isInstance: true)
            } else {
                _ = try source.classDescription(found, at: reference, budget, keepsNames: false)
                classPlaces.append(isClass)
            }
        }
        for (place, classPlace) in classPlaces.enumerated() where classPlace < isValue {
            guard classPlaces[Int(classPlace)] == isClass else { throw source.classless(place) }
        }
    }

    /// Whether an object is the text that stands for nil.
    private func isNull(
        _ object: BinaryPropertyList.Object,
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Bool {
        switch object {
        case .ascii(let range) where range.count == 5: try list.isString(reference, "$null")
        case .utf16(let range) where range.count == 10: try list.isString(reference, "$null")
        default: false
        }
    }

    /// - Parameter isInstance: whether the field `$class` is passed over.
    private func checkFields(
        _ found: BinaryPropertyList.Fields,
        depth: Int,
        isInstance: Bool
    ) throws(ArchiveError) {
        try budget.spend(found.count)
        for index in 0..<found.count {
            let key = list.key(found, index)
            guard let text = try list.text(key) else { throw source.keyWithoutText(key) }
            let byteCount = try list.byteCount(of: text)
            try budget.spend(byteCount + 1)
            if isInstance, byteCount == 6, try list.isString(key, "$class") { continue }
            try checkValue(list.value(found, index), depth: depth)
        }
    }

    private func checkValue(_ reference: BinaryPropertyList.Reference, depth: Int) throws(ArchiveError) {
        try budget.spend(1)
        let limit = ArchiveTree.listDepthLimit
        guard depth < limit else { throw source.listsTooDeep(limit: limit) }
        try checkContent(of: list.object(reference), depth: depth)
    }

    private func checkContent(of object: BinaryPropertyList.Object, depth: Int) throws(ArchiveError) {
        switch object {
        case .null, .bool, .integer, .unsigned, .float, .double, .date: break
        case .data(let range): try budget.spend(range.count)
        case .ascii(let range):
            try budget.spend(range.count)
            _ = try list.byteCount(of: .ascii(range))
        case .utf16(let range):
            try budget.spend(range.count)
            _ = try list.byteCount(of: .utf16(range))
        case .uid(let uid): _ = try source.reference(ofObject: uid)
        case .array(let run), .set(let run):
            for index in 0..<run.count { try checkValue(list.element(run, index), depth: depth + 1) }
        case .dictionary(let found): try checkFields(found, depth: depth + 1, isInstance: false)
        }
    }
}

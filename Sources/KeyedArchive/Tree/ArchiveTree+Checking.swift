extension ArchiveTree {
    /// How deep lists may nest in lists: each level takes stack that no other check limits.
    static var listDepthLimit: Int { 200 }

    /// Makes the same checks as opening an archive, without making a tree: takes four bytes for each object.
    ///
    /// - Throws: as ``init(_:)``.
    package static func check(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            try ArchiveSource.reading(buffer) { archive throws(ArchiveError) in
                var checker = ArchiveChecker(archive.source)
                try checker.check()
            }
        }
    }

    package static func check(_ bytes: [UInt8]) throws(ArchiveError) { try check(bytes[...]) }

    /// Whether an archive may begin with these bytes, at least one.
    ///
    /// - Throws: `.unknownFormat` if neither a binary property list nor XML does.
    package static func check(beginning bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        let magic = BinaryPropertyList.magic
        if bytes.prefix(magic.count).elementsEqual(magic.prefix(bytes.count)) { return }
        // XML: white space, a byte order mark, or a bracket.
        guard let first = bytes.first, [0x09, 0x0A, 0x0D, 0x20, 0x3C, 0xEF, 0xFE, 0xFF].contains(first) else {
            throw ArchiveError(.unknownFormat, "neither a binary nor an XML property list", offset: 0)
        }
    }
}

/// Takes the steps of `ArchiveTreeReader`, with the same budget, limits and errors, but copies no text and keeps
/// nothing: most of the time of reading a small archive goes into its strings and lists.
///
/// Objects of the usual kinds are seen to be sound by a few comparisons. Those that are not surely sound go the way that
/// the reader of trees takes, which names the fault.
private struct ArchiveChecker {
    private let source: ArchiveSource
    /// The references that may still be spent: a `DecodingBudget` of this checker alone, without memory of its own.
    private var budget: Int
    private var list: BinaryPropertyList { source.list }

    init(_ source: ArchiveSource) {
        self.source = source
        budget = ArchiveLimits().references(in: source.list.bytes.count)
    }

    private mutating func spend(_ references: Int) throws(ArchiveError) {
        budget &-= references
        if budget < 0 { throw DecodingBudget.overspent }
    }

    mutating func check() throws(ArchiveError) {
        try checkFields(source.top, depth: 0, isInstance: false)
        try withUnsafeTemporaryAllocation(of: UInt32.self, capacity: source.objects.count) {
            classPlaces throws(ArchiveError) in try checkObjects(classPlaces)
        }
    }

    /// Unsafe code, and why it is sound: there is a place for each object, all are filled before one is read, and
    /// `classPlace(at:)` returns places of objects only.
    private mutating func checkObjects(_ classPlaces: UnsafeMutableBufferPointer<UInt32>) throws(ArchiveError) {
        let (isClass, isValue) = (UInt32.max, UInt32.max - 1)
        for index in 0..<source.objects.count {
            let reference = list.element(source.objects, index)
            guard let found = try list.fields(reference) else {
                try checkValue(inTableAt: reference)
                classPlaces[index] = isValue
                continue
            }
            try spend(2 * found.count + 1)
            if let usual = usualInstance(found) {
                classPlaces[index] = try source.classPlace(at: usual.classReference)
                try spend(found.count + usual.cost)
            } else if let value = try list.value(of: "$class", in: found) {
                classPlaces[index] = try source.classPlace(at: value)
                try checkFields(found, depth: 0, isInstance: true)
            } else {
                try checkClass(found, at: reference)
                classPlaces[index] = isClass
            }
        }
        for (place, classPlace) in classPlaces.enumerated() where classPlace < isValue {
            guard classPlaces[Int(classPlace)] == isClass else { throw source.classless(place) }
        }
    }

    /// The class of an instance whose fields are all surely sound, and their cost in references; `nil` leaves the
    /// question open.
    private func usualInstance(
        _ found: BinaryPropertyList.Fields
    ) -> (classReference: BinaryPropertyList.Reference, cost: Int)? {
        let objectCount = source.objects.count
        var classReference: BinaryPropertyList.Reference?
        var cost = 0
        for index in 0..<found.count {
            guard let head = list.headOfShortASCII(list.key(found, index)) else { return nil }
            let value = list.value(found, index)
            cost &+= BinaryPropertyList.byteCount(ofHead: head) &+ 1
            if BinaryPropertyList.isClassKey(head: head) {
                // The first one counts.
                classReference = classReference ?? value
            } else {
                guard let byteCount = list.byteCountIfSound(value, objectCount: objectCount) else { return nil }
                cost &+= byteCount &+ 1
            }
        }
        return classReference.map { ($0, cost) }
    }

    /// Checks an object that is not an instance and no class.
    private mutating func checkValue(inTableAt reference: BinaryPropertyList.Reference) throws(ArchiveError) {
        if let byteCount = list.byteCountIfSound(reference, objectCount: source.objects.count) {
            if byteCount == 5 || byteCount == 10, try list.isString(reference, "$null") { return }
            return try spend(1 + byteCount)
        }
        let object = try list.object(reference)
        if try isNull(object, reference) { return }
        try spend(1)
        try checkContent(of: object, depth: 0)
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
    private mutating func checkFields(
        _ found: BinaryPropertyList.Fields,
        depth: Int,
        isInstance: Bool
    ) throws(ArchiveError) {
        try spend(found.count)
        for index in 0..<found.count {
            let key = list.key(found, index)
            if let head = list.headOfShortASCII(key) {
                try spend(BinaryPropertyList.byteCount(ofHead: head) + 1)
                if isInstance, BinaryPropertyList.isClassKey(head: head) { continue }
            } else {
                guard let text = try list.text(key) else { throw source.keyWithoutText(key) }
                let byteCount = try list.byteCount(of: text)
                try spend(byteCount + 1)
                if isInstance, byteCount == 6, try list.isString(key, "$class") { continue }
            }
            try checkValue(list.value(found, index), depth: depth)
        }
    }

    private mutating func checkValue(
        _ reference: BinaryPropertyList.Reference,
        depth: Int
    ) throws(ArchiveError) {
        try spend(1)
        let limit = ArchiveTree.listDepthLimit
        guard depth < limit else { throw source.listsTooDeep(limit: limit) }
        try NestingLimit.checkStack(at: depth)
        if let byteCount = list.byteCountIfSound(reference, objectCount: source.objects.count) {
            try spend(byteCount)
        } else {
            try checkContent(of: list.object(reference), depth: depth)
        }
    }

    private mutating func checkContent(of object: BinaryPropertyList.Object, depth: Int) throws(ArchiveError) {
        switch object {
        case .null, .bool, .integer, .unsigned, .float, .double, .date: break
        case .data(let range): try spend(range.count)
        case .ascii(let range):
            try spend(range.count)
            _ = try list.byteCount(of: .ascii(range))
        case .utf16(let range):
            try spend(range.count)
            _ = try list.byteCount(of: .utf16(range))
        case .uid(let uid): _ = try source.reference(ofObject: uid)
        case .array(let run), .set(let run):
            for index in 0..<run.count { try checkValue(list.element(run, index), depth: depth + 1) }
        case .dictionary(let found): try checkFields(found, depth: depth + 1, isInstance: false)
        }
    }

    // MARK: Classes

    /// Checks a class's dictionary as `classDescription(_:at:_:)` reads it.
    private mutating func checkClass(
        _ found: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) {
        try spend(3 * found.count)
        // As archivers write it.
        if found.count == 2, list.isShortASCII(list.key(found, 0), "$classname"),
            list.isShortASCII(list.key(found, 1), "$classes")
        {
            try checkClassName(list.value(found, 0))
            return try checkClassNames(list.value(found, 1))
        }
        var scope = ArchiveScope(found)
        try checkClassName(source.classNameReference(&scope, at: reference))
        try checkClassNames(scope.stored("$classes", in: list))
        try checkClassNames(scope.stored("$classhints", in: list))
    }

    private mutating func checkClassName(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) {
        if let head = list.headOfShortASCII(reference) {
            return try spend(BinaryPropertyList.byteCount(ofHead: head) + 1)
        }
        try spend(list.byteCount(of: source.classNameText(reference)) + 1)
    }

    private mutating func checkClassNames(_ reference: BinaryPropertyList.Reference?) throws(ArchiveError) {
        guard let reference else { return }
        let run = try source.classNameRun(reference)
        for index in 0..<run.count { try checkClassName(list.element(run, index)) }
    }
}

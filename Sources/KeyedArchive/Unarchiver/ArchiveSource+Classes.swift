extension ArchiveSource {
    /// The UID of an object's class.
    ///
    /// - Parameter knownKey: the string object that the key `$class` was found to be.
    func classUID(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference,
        under knownKey: inout BinaryPropertyList.Reference?,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> UInt32 {
        // Any number of objects may be one and the same dictionary of the property list: each search counts, and so does
        // the index of many keys, which each of these objects has.
        try budget.spend(
            fields.count > ArchiveScope.scanLimit ? fields.count * ArchiveScope.indexSteps : fields.count
        )
        // Most writers put the class last or first, and use one string object for the key.
        for index in (0..<fields.count).reversed() {
            let key = list.key(fields, index)
            if key != knownKey {
                guard try list.isString(key, "$class") else { continue }
                knownKey = key
            }
            guard let uid = try list.uid(list.value(fields, index)) else { break }
            return uid
        }
        throw ArchiveError(.corrupted, "object without a class", offset: try list.offset(of: reference))
    }

    /// The description of a class, read from its dictionary.
    func classDescription(
        _ found: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> ArchiveTree.ClassDescription {
        try budget.spend(3 * found.count)
        var scope = ArchiveScope(found)
        return ArchiveTree.ClassDescription(
            name: try className(classNameReference(&scope, at: reference), budget),
            chain: try classNames(scope.stored("$classes", in: list), budget),
            hints: try classNames(scope.stored("$classhints", in: list), budget)
        )
    }

    /// The value in a class's dictionary that its name is.
    func classNameReference(
        _ scope: inout ArchiveScope,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> BinaryPropertyList.Reference {
        guard let name = try scope.stored("$classname", in: list) else {
            throw corrupted("object without a class", reference)
        }
        return name
    }

    func classNameText(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> BinaryPropertyList.Text {
        guard let text = try list.shortText(reference, below: ArchiveLimits.classNameLimit) else {
            throw corrupted("class without a name", reference)
        }
        return text
    }

    func classNameRun(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> BinaryPropertyList.References {
        guard case .array(let run) = try list.object(reference) else {
            throw corrupted("names of classes that are not a list", reference)
        }
        return run
    }

    private func className(
        _ reference: BinaryPropertyList.Reference,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> String {
        let text = try classNameText(reference)
        try budget.spend(list.byteCount(of: text) + 1)
        return try list.string(text)
    }

    private func classNames(
        _ reference: BinaryPropertyList.Reference?,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> [String] {
        guard let reference else { return [] }
        let run = try classNameRun(reference)
        var names: [String] = []
        for index in 0..<run.count { names.append(try className(list.element(run, index), budget)) }
        return names
    }

    /// A list of names in a class dictionary, as far as it can be read; empty if there is none.
    func classNames(
        _ key: StaticString,
        of uid: UInt32,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> [String] {
        guard case .dictionary(let fields) = try list.object(reference(ofObject: uid)) else { return [] }
        try budget.spend(fields.count)
        var scope = ArchiveScope(fields)
        guard let value = try scope.stored("\(key)", in: list), case .array(let run) = try list.object(value) else {
            return []
        }
        try budget.spend(run.count)
        var names: [String] = []
        // Real chains have ten names at most.
        for index in 0..<min(run.count, 256) {
            if let name = try list.shortString(list.element(run, index), below: ArchiveLimits.classNameLimit) {
                // All of them may be one long string.
                try budget.spend(bytes: name.utf8.count)
                names.append(name)
            }
        }
        return names
    }
}

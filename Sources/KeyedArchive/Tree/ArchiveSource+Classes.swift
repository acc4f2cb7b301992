extension ArchiveSource {
    /// The description of a class, read from its dictionary.
    ///
    /// - Parameter spend: counts the reads against the budget that the archive's size allows.
    func classDescription(
        _ found: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference,
        _ spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> ArchiveTree.ClassDescription {
        try spend(3 * found.count)
        var scope = ArchiveScope(found)
        guard let name = try scope.stored("$classname", in: list) else {
            throw corrupted("object without a class", reference)
        }
        return ArchiveTree.ClassDescription(
            name: try className(name, spend),
            chain: try classNames(scope.stored("$classes", in: list), spend),
            hints: try classNames(scope.stored("$classhints", in: list), spend)
        )
    }

    private func corrupted(_ message: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        ArchiveError(.corrupted, message, offset: try? list.offset(of: reference))
    }

    private func className(
        _ reference: BinaryPropertyList.Reference,
        _ spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> String {
        guard let name = try list.shortString(reference, below: 4_096) else {
            throw corrupted("class without a name", reference)
        }
        try spend(name.utf8.count + 1)
        return name
    }

    private func classNames(
        _ reference: BinaryPropertyList.Reference?,
        _ spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> [String] {
        guard let reference else { return [] }
        guard case .array(let run) = try list.object(reference) else {
            throw corrupted("names of classes that are no list", reference)
        }
        var names: [String] = []
        for index in 0..<run.count { names.append(try className(list.element(run, index), spend)) }
        return names
    }
}

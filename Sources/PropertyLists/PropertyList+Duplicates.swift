extension PropertyList {
    /// The list with one entry for each key of a dictionary: the one that counts in `format`.
    package func withoutDuplicates(in format: PropertyListFormat) -> PropertyList {
        var list = self
        switch value {
        case .array(let members): list.value = .array(members.map { $0.withoutDuplicates(in: format) })
        case .set(let members): list.value = .set(members.map { $0.withoutDuplicates(in: format) })
        case .dictionary(let entries):
            var seen: Set<String> = []
            let counting =
                format.lastDuplicateCounts
                ? entries.reversed().filter { seen.insert($0.key).inserted }.reversed()
                : entries.filter { seen.insert($0.key).inserted }
            list.value = .dictionary(
                counting.map { entry in
                    var entry = entry
                    entry.value = entry.value.withoutDuplicates(in: format)
                    return entry
                }
            )
        default: break
        }
        return list
    }
}

extension PropertyList {
    /// The list with one entry for each key of a dictionary: the one that counts in `format`.
    ///
    /// - Throws: `.limitExceeded` for more containers in each other than 512 or than this thread's stack has room for.
    package func withoutDuplicates(in format: PropertyListFormat) throws(PropertyListError) -> PropertyList {
        try withoutDuplicates(in: format, depth: 0)
    }

    private func withoutDuplicates(in format: PropertyListFormat, depth: Int) throws(PropertyListError)
        -> PropertyList
    {
        var list = self
        switch value {
        case .array(let members): list.value = .array(try Self.withoutDuplicates(members, in: format, depth: depth))
        case .set(let members): list.value = .set(try Self.withoutDuplicates(members, in: format, depth: depth))
        case .dictionary(let entries):
            try PropertyListLimits.check(depth: depth)
            var seen: Set<String> = []
            let counting =
                format.lastDuplicateCounts
                ? entries.reversed().filter { seen.insert($0.key).inserted }.reversed()
                : entries.filter { seen.insert($0.key).inserted }
            list.value = .dictionary(
                try counting.map { entry throws(PropertyListError) in
                    var entry = entry
                    entry.value = try entry.value.withoutDuplicates(in: format, depth: depth + 1)
                    return entry
                }
            )
        default: break
        }
        return list
    }

    private static func withoutDuplicates(
        _ members: [PropertyList],
        in format: PropertyListFormat,
        depth: Int
    ) throws(PropertyListError) -> [PropertyList] {
        try PropertyListLimits.check(depth: depth)
        return try members.map { member throws(PropertyListError) in
            try member.withoutDuplicates(in: format, depth: depth + 1)
        }
    }
}

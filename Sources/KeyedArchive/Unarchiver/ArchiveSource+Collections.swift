extension ArchiveSource {
    /// The references to a dictionary's keys, and those to its values: as many, and in the same order.
    typealias Entries = (keys: [BinaryPropertyList.Reference], values: [BinaryPropertyList.Reference])

    /// The references to a collection's members: in `NS.objects`, or in `NS.object.0`, `NS.object.1`, …, as
    /// some writers have it.
    ///
    /// - Parameter className: the collection's class, for errors.
    func members(
        in scope: inout ArchiveScope,
        of className: String,
        under key: String = "NS.objects",
        orEachUnder prefix: String = "NS.object.",
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> [BinaryPropertyList.Reference] {
        var members: [BinaryPropertyList.Reference] = []
        if let value = try scope.value(of: key, in: list) {
            guard case .array(let run) = try list.object(value) else {
                throw ArchiveError(
                    .corrupted,
                    "\(className) without a value that it needs",
                    offset: scope.fields.start
                )
            }
            try budget.spend(run.count)
            members.reserveCapacity(run.count)
            for index in 0..<run.count { members.append(list.element(run, index)) }
        } else {
            while let value = try scope.value(of: "\(prefix)\(members.count)", in: list) {
                try budget.spend(1)
                members.append(value)
            }
        }
        return members
    }

    /// The references to a dictionary's entries.
    ///
    /// - Parameter object: the dictionary, for errors; `nil` for the place of its fields.
    func entries(
        in scope: inout ArchiveScope,
        of object: BinaryPropertyList.Reference? = nil,
        _ budget: DecodingBudget
    ) throws(ArchiveError) -> Entries {
        let keys = try members(in: &scope, of: "NSDictionary", under: "NS.keys", orEachUnder: "NS.key.", budget)
        let values = try members(in: &scope, of: "NSDictionary", budget)
        guard keys.count == values.count else {
            var offset = scope.fields.start
            if let object { offset = try list.offset(of: object) }
            throw ArchiveError(
                .corrupted,
                "dictionary with \(keys.count) keys and \(values.count) values",
                offset: offset
            )
        }
        return (keys, values)
    }
}

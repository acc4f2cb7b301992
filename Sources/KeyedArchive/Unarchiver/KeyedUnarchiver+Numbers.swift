extension KeyedUnarchiver {
    /// The number under a key, converted; 0 or `false` if there is none, and after an error.
    func number<T>(
        _ key: String,
        or zero: T,
        _ convert: (ArchivedNumber) -> T?
    ) -> T {
        attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key) else { return nil }
            guard let number = try source.number(at: reference) else {
                if try source.isReferenceToNil(reference) { return nil }
                throw mismatch("\(T.self)", reference)
            }
            guard let value = convert(number) else { throw misfit(number, reference, asked: T.self) }
            return value
        } ?? zero
    }

    // The accessors of `source` that an object's fields need. Called through another type, each would copy it.

    func value(
        of key: String,
        in scope: inout ArchiveScope
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        try scope.value(of: key, in: source.list)
    }

    func nextUnkeyed(in scope: inout ArchiveScope) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        try scope.nextUnkeyed(in: source.list)
    }

    func number(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> ArchivedNumber? {
        try source.number(at: reference)
    }

    func members(
        in scope: inout ArchiveScope,
        of className: String
    ) throws(ArchiveError) -> [BinaryPropertyList.Reference] {
        try source.members(in: &scope, of: className, budget)
    }

    func entries(in scope: inout ArchiveScope) throws(ArchiveError) -> ArchiveSource.Entries {
        try source.entries(in: &scope, budget)
    }

    // MARK: Errors

    /// The error for a value of another kind than the one asked for.
    func mismatch(_ asked: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        let stored = (try? kind(of: reference)) ?? "something unreadable"
        return ArchiveError(.typeMismatch, "\(stored), where \(asked) is expected", offset: offset(of: reference))
    }

    /// The error for an object in a place that must not be nil: the object's own `init(coder:)` returned `nil`.
    func refusal(of place: String, _ reference: BinaryPropertyList.Reference) -> ArchiveError {
        let stored = (try? kind(of: reference)) ?? "something unreadable"
        return ArchiveError(
            .decodingFailed,
            "\(place), \(stored), refused to be decoded: there is nil in its place",
            offset: offset(of: reference)
        )
    }

    /// The error for a number that the type asked for cannot hold.
    func misfit(
        _ number: ArchivedNumber,
        _ reference: BinaryPropertyList.Reference,
        asked: Any.Type
    ) -> ArchiveError {
        ArchiveError(.outOfRange, "\(number.kind) that does not fit \(asked)", offset: offset(of: reference))
    }

    /// The byte at which an object begins that a value is or refers to.
    private func offset(of reference: BinaryPropertyList.Reference) -> Int? {
        (try? source.resolve(reference)).flatMap { $0 }.flatMap { try? source.list.offset(of: $0) }
    }

    /// The kind of a value, in words.
    private func kind(of reference: BinaryPropertyList.Reference) throws(ArchiveError) -> String {
        guard let target = try source.resolve(reference) else { return "nil" }
        if let number = try source.number(at: target) { return number.kind }
        switch try source.list.object(target) {
        case .ascii, .utf16: return "a string"
        case .data: return "data"
        case .date: return "a date"
        case .dictionary(let fields):
            guard let uid = try? classUID(of: fields, at: target) else { return "a dictionary" }
            let name = EscapedText.masked(try classes.name(uid, in: source), prefix: ClassResolver.shownNameLength)
            return "an object of class \(name)"
        default: return "something else"
        }
    }
}

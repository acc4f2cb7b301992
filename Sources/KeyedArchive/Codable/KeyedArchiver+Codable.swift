import Foundation

/// An encoded Codable value: a scalar that can stand inline, or an object.
enum ArchivedSlot {
    case inline(ArchiveWriter.Reference)
    case object(ArchiveWriter.UID)
}

extension KeyedArchiver {
    /// Archives a Codable value under the key `root`.
    ///
    /// The archive looks like that of an `NSCoding` class with the same fields: the value's type is its class,
    /// its coding keys are its keys, numbers and Booleans stand inline, arrays are `NSArray` and dictionaries
    /// with string or integer keys `NSDictionary`.
    ///
    /// - Throws: ``ArchiveError`` with code `.encodingFailed` and the cause if the value's `encode(to:)` throws,
    ///   `.limitExceeded` if it nests more than 1,000 deep.
    /// - Complexity: O(*n*) in the values that are archived.
    public static func archivedData(encoding value: some Encodable) throws(ArchiveError) -> Data {
        try archive(encoding: value) { $0.finishedData() }
    }

    package static func archive(encoding value: some Encodable) throws(ArchiveError) -> [UInt8] {
        try archive(encoding: value) { $0.finishedBytes() }
    }

    private static func archive<Result>(
        encoding value: some Encodable,
        _ body: (ArchiveWriter) -> Result
    ) throws(ArchiveError) -> Result {
        try archiver(encoding: value).finish(body)
    }

    /// An archiver with a Codable value under the key `root`. Errors are recorded.
    static func archiver(encoding value: some Encodable) -> KeyedArchiver {
        let archiver = KeyedArchiver()
        let uid = archiver.object(codable: value)
        if !archiver.hasFailed { archiver.writer.set(rootKey, archiver.writer.reference(to: uid)) }
        return archiver
    }

    /// The place of a Codable value in `$objects`; 0 for nil and after an error, which is recorded.
    func object(codable value: some Encodable) -> ArchiveWriter.UID {
        recorded(type(of: value)) { object(try slot(of: value, at: nil)) } ?? 0
    }

    /// Archives a Codable value under a key of the innermost scope. Errors are recorded.
    func encode(codable value: some Encodable, forKey key: String) {
        setReference(forKey: key) { recorded(type(of: value)) { reference(try slot(of: value, at: nil)) } ?? 0 }
    }

    /// Runs `body`, and records its error.
    private func recorded<Result>(_ type: Any.Type, _ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch let error as ArchiveError {
            record(error)
        } catch let EncodingError.invalidValue(_, context) {
            record(
                ArchiveError(
                    .encodingFailed,
                    context.debugDescription,
                    keyPath: context.codingPath.map(\.stringValue),
                    cause: context.underlyingError
                )
            )
        } catch {
            let thrown = ClassNames.name(of: Swift.type(of: error))
            let name = ClassNames.name(of: type)
            record(ArchiveError(.encodingFailed, "the encode(to:) of \(name) threw a \(thrown)", cause: error))
        }
        return nil
    }

    func object(_ slot: ArchivedSlot) -> ArchiveWriter.UID {
        switch slot {
        case .inline(let reference): writer.addObject(reference)
        case .object(let uid): uid
        }
    }

    /// The place of a collection's member: nil has none, and is `NSNull` as in Foundation.
    func member(_ slot: ArchivedSlot) -> ArchiveWriter.UID {
        if case .object(0) = slot { return NSNull().archive(into: self) }
        return object(slot)
    }

    func reference(_ slot: ArchivedSlot) -> ArchiveWriter.Reference {
        switch slot {
        case .inline(let reference): reference
        case .object(let uid): writer.reference(to: uid)
        }
    }

    /// Encodes a value of any Codable type.
    ///
    /// - Parameter path: the way to the value, which is made only if the value's own coding may need it.
    func slot<T: Encodable>(of value: T, at path: @autoclosure () -> CodingPath?) throws -> ArchivedSlot {
        let form = writer.forms[T.self]
        switch form.kind {
        case .string: return .object(string(identity(value, as: String.self)))
        case .integer: return .inline(writer.scalar(Int64(identity(value, as: Int.self))))
        case .double: return .inline(writer.scalar(identity(value, as: Double.self)))
        case .bool: return .inline(writer.scalar(identity(value, as: Bool.self)))
        case .date: return .object(identity(value, as: Date.self).archive(into: self))
        case .data: return .object(identity(value, as: Data.self).archive(into: self))
        case .url: return .object(identity(value, as: URL.self).archive(into: self))
        case .uuid: return .object(identity(value, as: UUID.self).archive(into: self))
        case .decimal: return .object(identity(value, as: Decimal.self).archive(into: self))
        case .strings: return try list(identity(value, as: [String].self)) { string($0) }
        case .integers:
            return try list(identity(value, as: [Int].self)) { writer.addObject(writer.scalar(Int64($0))) }
        case .doubles: return try list(identity(value, as: [Double].self)) { writer.addObject(writer.scalar($0)) }
        case .dates: return try list(identity(value, as: [Date].self)) { $0.archive(into: self) }
        case .urls: return try list(identity(value, as: [URL].self)) { $0.archive(into: self) }
        case .uuids: return try list(identity(value, as: [UUID].self)) { $0.archive(into: self) }
        case .dictionary, .formed, .own: return try slot(of: value, form, at: path())
        }
    }

    /// An array of one of the commonest types, as its own `encode(to:)` would write it, without an encoder.
    @inline(__always)
    private func list<Member>(
        _ members: [Member],
        _ write: (Member) -> ArchiveWriter.UID
    ) throws -> ArchivedSlot {
        guard enter() else { throw refusal }
        defer { leave() }
        let uid = writer.reserveObject()
        var places: [ArchiveWriter.UID] = []
        places.reserveCapacity(members.count)
        for member in members { places.append(write(member)) }
        let start = writer.fieldStart
        writer.add(.objects, writer.array(places))
        writer.end(uid, class: .array, from: start)
        return .object(uid)
    }

    private func slot<T: Encodable>(
        of value: T,
        _ form: EncodableForm,
        at path: CodingPath?
    ) throws -> ArchivedSlot {
        guard enter() else { throw refusal }
        defer { leave() }
        if form.kind == .dictionary, let dictionary = value as? any ArchivableDictionary,
            let uid = try dictionary.slot(self, path)
        {
            return .object(uid)
        }
        let depth = writer.depth
        let encoder = ArchiveEncoder(self, path, nested: false)
        do {
            try value.encode(to: encoder)
            return try encoder.finish(as: form.info)
        } catch {
            // A caller that catches this error may go on with other values.
            writer.abandonScopes(above: depth)
            throw error
        }
    }

    /// The error for a value that cannot be entered.
    private var refusal: ArchiveError {
        error as? ArchiveError ?? ArchiveError(.encodingFailed, "the archive is finished already")
    }
}

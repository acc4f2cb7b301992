import Foundation

/// The fields of a Foundation object while it is read.
struct FormFields {
    let unarchiver: KeyedUnarchiver
    let className: String
    let uid: UInt32
    var scope: ArchiveScope

    init(_ fields: BinaryPropertyList.Fields, of className: String, in uid: UInt32, _ unarchiver: KeyedUnarchiver) {
        self.unarchiver = unarchiver
        self.className = className
        self.uid = uid
        scope = ArchiveScope(fields)
    }

    // MARK: Errors

    func malformed(_ what: String = "without a value that it needs") -> ArchiveError {
        ArchiveError(.corrupted, "\(className) \(what)", offset: scope.fields.start)
    }

    /// The error for a sound value that Foundation does not know here.
    func unknown(_ what: String, cause: (any Error)? = nil) -> ArchiveError {
        ArchiveError(.decodingFailed, "\(className) \(what)", offset: scope.fields.start, cause: cause)
    }

    // MARK: Values

    mutating func contains(_ key: String) throws(ArchiveError) -> Bool {
        try unarchiver.value(of: key, in: &scope) != nil
    }

    /// The object under a key; `nil` if there is none or it is nil. Inline scalars are objects too.
    mutating func object(_ key: String) throws(ArchiveError) -> Any? {
        guard let reference = try unarchiver.value(of: key, in: &scope) else { return nil }
        return try object(at: reference)
    }

    /// The next value that was encoded without a key.
    mutating func next() throws(ArchiveError) -> Any? {
        guard let reference = try unarchiver.nextUnkeyed(in: &scope) else { return nil }
        return try object(at: reference)
    }

    private func object(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        let object = try allowedObject(at: reference)
        try unarchiver.objects.checkMembers()
        if let object { return object }
        // An object inside may have recorded an error without throwing.
        if let error = unarchiver.error as? ArchiveError { throw error }
        return nil
    }

    /// The object at a place in the scope; of Foundation's, any one only where that need not be named, and those of
    /// property lists in any collection.
    private func allowedObject(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        try unarchiver.frame.allowsFoundationValues
            ? unarchiver.object(at: reference) : unarchiver.expectedObject(at: reference, isMember: true)
    }

    /// The next value that was encoded without a key, by its C type.
    ///
    /// - Parameter count: how many bytes a value of the type has.
    mutating func nextBytes(_ type: String, count: Int) throws(ArchiveError) -> [UInt8] {
        var ahead = scope
        guard try unarchiver.nextUnkeyed(in: &ahead) != nil else { throw malformed() }
        var bytes = [UInt8](repeating: 0, count: count)
        let outer = unarchiver.frame.scope
        unarchiver.frame.scope = scope
        defer { unarchiver.frame.scope = outer }
        bytes.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { unarchiver.decodeRawValue(type, at: start) }
        }
        scope = ahead
        if let error = unarchiver.error as? ArchiveError { throw error }
        return bytes
    }

    /// The object under a key; `nil` if there is none or it is nil, an error if it is of another type.
    mutating func optional<T>(_ type: T.Type, _ key: String) throws(ArchiveError) -> T? {
        guard let object = try object(key) else { return nil }
        guard let value = object as? T else { throw malformed("with a value of the wrong kind") }
        return value
    }

    mutating func required<T>(_ type: T.Type, _ key: String) throws(ArchiveError) -> T {
        guard let value = try optional(type, key) else { throw malformed() }
        return value
    }

    /// A text that this object copies or goes through: its bytes count again, for many objects may share it.
    func counted(_ text: String) throws(ArchiveError) -> String {
        try unarchiver.budget.spend(bytes: text.utf8.count)
        return text
    }

    /// Data that this object copies or goes through: its bytes count again, for many objects may share it.
    func counted(_ data: Data) throws(ArchiveError) -> Data {
        try unarchiver.budget.spend(bytes: data.count)
        return data
    }

    /// The whole number under a key, inline or as an object; `nil` if there is none or it is nil.
    mutating func integer(_ key: String) throws(ArchiveError) -> Int? {
        try number(key) { $0.integer(Int.self) }
    }

    mutating func requiredInteger(_ key: String) throws(ArchiveError) -> Int {
        guard let value = try integer(key) else { throw malformed() }
        return value
    }

    mutating func double(_ key: String) throws(ArchiveError) -> Double? { try number(key, \.double) }

    mutating func requiredDouble(_ key: String) throws(ArchiveError) -> Double {
        guard let value = try double(key) else { throw malformed() }
        return value
    }

    /// The Boolean under a key; `nil` if there is none.
    mutating func flag(_ key: String) throws(ArchiveError) -> Bool? { try number(key, \.bool) }

    /// The Boolean under a key; `false` if there is none.
    mutating func bool(_ key: String) throws(ArchiveError) -> Bool { try flag(key) ?? false }

    private mutating func number<T>(
        _ key: String,
        _ convert: (ArchivedNumber) -> T?
    ) throws(ArchiveError) -> T? {
        guard let reference = try unarchiver.value(of: key, in: &scope) else { return nil }
        guard let number = try unarchiver.number(at: reference) else {
            if try unarchiver.source.isReferenceToNil(reference) { return nil }
            throw malformed("with a value of the wrong kind")
        }
        guard let value = convert(number) else { throw malformed("with a number out of range") }
        return value
    }

    // MARK: Collections

    /// The dictionary under a key; `nil` if there is none or it is nil.
    ///
    /// A cast copies all entries, and many objects may share them, so that they count as an array's members do.
    mutating func dictionary<Key>(_ type: [Key: Any].Type, _ key: String) throws(ArchiveError) -> [Key: Any]? {
        guard let object = try object(key) else { return nil }
        let count = content(of: object, as: [AnyHashable: Any].self)?.count ?? (object as? NSDictionary)?.count
        try unarchiver.budget.spend(4 * (count ?? 0))
        guard let dictionary = object as? [Key: Any] else { throw malformed("with a value of the wrong kind") }
        return dictionary
    }

    /// The members of a collection.
    mutating func members() throws(ArchiveError) -> [Any] {
        let references = try memberReferences()
        var members: [Any] = []
        members.reserveCapacity(references.count)
        for reference in references { members.append(try member(reference)) }
        return members
    }

    /// Reads the members of an array one by one.
    mutating func forEachMember(_ body: (Any) -> Void) throws(ArchiveError) {
        for reference in try memberReferences() { body(try member(reference)) }
    }

    /// Reads all members of a set, then hands them over one by one.
    mutating func forEachHashedMember(_ body: (AnyHashable) -> Void) throws(ArchiveError) {
        let members = try members()
        var crowd = HashCrowd(memberCount: members.count)
        for object in members { body(try admit(object, to: &crowd)) }
    }

    /// Reads the entries of a dictionary one by one.
    mutating func forEachEntry(_ body: (AnyHashable, Any) -> Void) throws(ArchiveError) {
        let (keys, values) = try unarchiver.entries(in: &scope)
        var crowd = HashCrowd(memberCount: keys.count)
        for (key, value) in zip(keys, values) {
            let key = try admit(member(key), to: &crowd)
            body(key, try member(value))
        }
    }

    /// An object as the next key or member of a collection.
    func admit(_ object: Any, to crowd: inout HashCrowd) throws(ArchiveError) -> AnyHashable {
        try crowd.admit(hashable(object)) { bytes throws(ArchiveError) in
            try unarchiver.budget.spend(bytes: bytes)
        }
    }

    /// An object as a key or a set's member.
    private func hashable(_ object: Any) throws(ArchiveError) -> AnyHashable {
        // The commonest one first.
        if let text = content(of: object, as: String.self) { return text }
        // Comparing collections that share parts can take for ever, and an archive chooses the collections to compare.
        guard !FoundationClasses.isCollection(type(of: object)), let key = object as? AnyHashable else {
            throw ArchiveError(
                .typeMismatch,
                "\(ClassNames.name(of: type(of: object))) as a key or set member: it is a collection, or has no hash",
                offset: scope.fields.start
            )
        }
        return key
    }

    private mutating func memberReferences() throws(ArchiveError) -> [BinaryPropertyList.Reference] {
        try unarchiver.members(in: &scope, of: className)
    }

    private func member(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any {
        let object = try allowedObject(at: reference)
        try unarchiver.objects.countMember()
        if let object { return object }
        // A failure inside was recorded, or an object's `init(coder:)` refused: no collection with a hole in it.
        if let error = unarchiver.error as? ArchiveError { throw error }
        throw unarchiver.refusal(of: "a member of a collection", reference)
    }
}

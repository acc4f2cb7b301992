import Foundation

/// How objects of one Foundation class are read from the form in which Apple's archiver stores them.
///
/// The files of this folder hold a family of classes each: above, the form, then how it is written, then how it
/// is read. Foundation's own coding methods are of no use here: they insist on Foundation's own archiver.
///
/// A form with wrong bytes is `.corrupted`. A sound form that the Foundation at hand does not know, such as a
/// calendar of another system, is `.decodingFailed`.
final class FoundationForm: Sendable {
    typealias Reading = @Sendable (inout FormFields) throws(ArchiveError) -> Any

    let className: String
    /// Whether its objects are collections: then their members must be of the classes that are expected too.
    let isCollection: Bool
    let read: Reading

    init(_ className: String, isCollection: Bool = false, _ read: @escaping Reading) {
        self.className = className
        self.isCollection = isCollection
        self.read = read
    }

    static let all: [FoundationForm] =
        numbers + indexes + characterSets + attributedTexts + patterns + values + times + units + orderedSets
        + records + formatters
}

/// The fields of a Foundation object while it is read.
struct FormFields {
    let unarchiver: KeyedUnarchiver
    let className: String
    let uid: UInt32
    var scope: ArchiveScope

    init(_ unarchiver: KeyedUnarchiver, _ className: String, _ uid: UInt32, _ fields: BinaryPropertyList.Fields) {
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
        try scope.value(of: key, in: unarchiver.source.list) != nil
    }

    /// The object under a key; `nil` if there is none or it is nil. Inline scalars are objects too.
    mutating func object(_ key: String) throws(ArchiveError) -> Any? {
        guard let reference = try scope.value(of: key, in: unarchiver.source.list) else { return nil }
        return try object(at: reference)
    }

    /// The next value that was encoded without a key.
    mutating func next() throws(ArchiveError) -> Any? {
        guard let reference = try scope.nextUnkeyed(in: unarchiver.source.list) else { return nil }
        return try object(at: reference)
    }

    private func object(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        let isFree = unarchiver.expected.intrinsicsToo
        let object = try isFree ? unarchiver.object(at: reference) : unarchiver.expectedObject(at: reference)
        try unarchiver.checkHeldSize()
        if let object { return object }
        // An object inside may have recorded an error without throwing.
        if let error = unarchiver.error as? ArchiveError { throw error }
        return nil
    }

    /// The next value that was encoded without a key, by its C type.
    ///
    /// - Parameter count: how many bytes a value of the type has.
    mutating func nextBytes(_ type: String, count: Int) throws(ArchiveError) -> [UInt8] {
        var ahead = scope
        guard try ahead.nextUnkeyed(in: unarchiver.source.list) != nil else { throw malformed() }
        var bytes = [UInt8](repeating: 0, count: count)
        let outer = unarchiver.scope
        unarchiver.scope = scope
        defer { unarchiver.scope = outer }
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
        guard let reference = try scope.value(of: key, in: unarchiver.source.list) else { return nil }
        guard let number = try unarchiver.number(at: reference) else {
            if try unarchiver.isNull(reference) { return nil }
            throw malformed("with a value of the wrong kind")
        }
        guard let value = convert(number) else { throw malformed("with a number out of range") }
        return value
    }
}

extension KeyedArchiver {
    /// Writes an object of a Foundation class; `body` encodes its fields.
    ///
    /// - Parameter object: the object itself, if there is one: it gets one place, however often it is encoded.
    func form(_ type: AnyClass, of object: AnyObject? = nil, _ body: () -> Void) -> ArchiveWriter.UID {
        // Readers have limits for some of these, but for numbers none.
        if type != NSDecimalNumber.self { mayBeRefused = true }
        return container(.of(type), object, body)
    }

    func encode(inline text: String, forKey key: String) { writer.set(key, writer.string(text)) }

    func encode(inline data: Data, forKey key: String) {
        writer.set(key, data.withUnsafeBytes { writer.scalar($0) })
    }
}

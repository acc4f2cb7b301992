import Foundation

extension KeyedUnarchiver {
    /// Unarchives a Codable value from the key `root`.
    ///
    /// The archive may come from `KeyedArchiver.archivedData(encoding:)` or from an `NSCoding` class with the
    /// same name and fields. The root's class must be the type's name; inside, an object of any class or a
    /// dictionary gives its keys to any type that asks for them.
    ///
    /// - Throws: ``ArchiveError`` with code `.typeMismatch` if the root is of another type or a field of another
    ///   kind, `.missingValue` if a field is missing, `.decodingFailed` with the cause if the type's
    ///   `init(from:)` throws an error of its own, `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if
    ///   the bytes are no sound archive, `.limitExceeded` if it nests more than 1,000 deep.
    /// - Complexity: O(*n*) in the values that are decoded.
    public static func unarchivedValue<T: Decodable>(
        of type: T.Type,
        from data: Data
    ) throws(ArchiveError) -> T {
        try unarchive(decoding: type, in: UnarchiverMemoryPool.take(copying: data))
    }

    /// - Parameter formerNames: more names that the root's class may have.
    package static func unarchive<T: Decodable>(
        decoding type: T.Type,
        formerNames: (any FormerlyNamed.Type)? = nil,
        from bytes: [UInt8]
    ) throws(ArchiveError) -> T {
        try unarchive(decoding: type, formerNames: formerNames, in: UnarchiverMemoryPool.take(copying: bytes))
    }

    private static func unarchive<T: Decodable>(
        decoding type: T.Type,
        formerNames: (any FormerlyNamed.Type)? = nil,
        in memory: UnarchiverMemory
    ) throws(ArchiveError) -> T {
        let unarchiver = try KeyedUnarchiver(memory, nil, [])
        unarchiver.formerNames = formerNames
        do {
            guard let root = try unarchiver.value(of: KeyedArchiver.rootKey) else {
                throw ArchiveError(.missingValue, "the archive has no root object")
            }
            let value = try unarchiver.decode(T.self, at: root, nil, isRoot: true)
            // A type that asks for no keys has not been compared with the archive's yet.
            if !unarchiver.rootIsChecked { try unarchiver.checkClass(at: root, is: T.self) }
            if let error = unarchiver.error { throw error }
            return value
        } catch let error as ArchiveError {
            // An error that was recorded inside has its place already.
            throw unarchiver.error == nil ? unarchiver.source.located(error) : error
        } catch let error as DecodingError {
            // The root's class says more than the first value that was not there.
            if !unarchiver.rootIsChecked, let root = try unarchiver.value(of: KeyedArchiver.rootKey) {
                do throws(ArchiveError) {
                    try unarchiver.checkClass(at: root, is: T.self)
                } catch {
                    throw unarchiver.source.located(error)
                }
            }
            throw ArchiveError(error)
        } catch {
            let name = ArchivedClass.of(T.self).name
            let thrown = ClassNames.name(of: Swift.type(of: error))
            throw ArchiveError(.decodingFailed, "the init(from:) of \(name) threw a \(thrown)", cause: error)
        }
    }

    /// Throws if the root is an object of a class other than `type`'s; it may be one of Foundation's.
    func checkClass(at reference: BinaryPropertyList.Reference, is type: Any.Type) throws(ArchiveError) {
        rootIsChecked = true
        guard let target = try resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return }
        let uid = try classUID(of: fields, at: target)
        if let name = try classNameReference(uid),
            try source.list.isString(name, equalTo: ArchivedClass.of(type).name)
        {
            return
        }
        let name = try className(uid)
        if try intrinsic(of: uid) == nil, !isFormerName(name, of: type),
            formerNames?.formerNames.contains(name) != true
        {
            throw ArchiveError(
                .typeMismatch,
                "the root is \(EscapedText.masked(name, prefix: Self.shownNameLength)), not \(ArchivedClass.of(type).name)",
                offset: try source.list.offset(of: target)
            )
        }
    }

    /// Decodes a value of any Codable type.
    func decode<T: Decodable>(
        _ type: T.Type,
        at reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        isRoot: Bool = false
    ) throws -> T {
        try spend(4)
        if type == String.self || type == Date.self || type == Data.self || type == URL.self || type == UUID.self {
            return try intrinsic(type, at: reference, path)
        }
        if type == Decimal.self, let value = try decimal(at: reference) as? T { return value }
        try checkNesting()
        depth += 1
        defer { depth -= 1 }
        if let dictionary = type as? any UnarchivableDictionary.Type,
            let value = try dictionary.make(self, reference, path)
        {
            guard let typed = value as? T else { throw mismatch(type, reference, path) }
            return typed
        }
        return try T(from: ArchiveDecoder(self, reference, path, root: isRoot ? type : nil))
    }

    /// Decodes a string, date, data, URL or UUID.
    func intrinsic<T>(
        _ type: T.Type,
        at reference: BinaryPropertyList.Reference,
        _ path: CodingPath?
    ) throws -> T {
        guard let value = try plainObject(type, at: reference, path) else {
            throw DecodingError.valueNotFound(type, context("nil, where a \(type) is asked for", path))
        }
        guard let typed = value as? T else { throw mismatch(type, reference, path) }
        return typed
    }

    /// Decodes an object that is asked for as one of Foundation's; any other one is of another type, not one of a class
    /// that may not be instantiated.
    fileprivate func plainObject(
        _ type: Any.Type,
        at reference: BinaryPropertyList.Reference,
        _ path: CodingPath?
    ) throws -> Any? {
        do throws(ArchiveError) {
            return try object(at: reference)
        } catch {
            guard error.code == .classNotAllowed, try isForeign(reference) else { throw error }
            throw mismatch(type, reference, path)
        }
    }

    /// Whether a value is an object of a class that is none of Foundation's.
    private func isForeign(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        guard let target = try resolve(reference), case .dictionary(let fields) = try source.list.object(target)
        else { return false }
        return try intrinsic(of: classUID(of: fields, at: target)) == nil
    }

    /// Decodes a number or Boolean.
    func number<T>(
        at reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        _ convert: (ArchivedNumber) -> T?
    ) throws -> T {
        guard let number = try number(at: reference) else {
            if try isAbsent(reference) {
                throw DecodingError.valueNotFound(T.self, context("nil, where a \(T.self) is asked for", path))
            }
            throw mismatch(T.self, reference, path)
        }
        guard let value = convert(number) else {
            let cause = misfit(number, T.self, reference)
            throw DecodingError.dataCorrupted(context(cause.message, path, cause))
        }
        return value
    }

    /// Whether a value is nil, or the `NSNull` that stands for nil in a collection.
    func isAbsent(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        guard let target = try resolve(reference) else { return true }
        guard case .dictionary(let fields) = try source.list.object(target) else { return false }
        if case .null? = try intrinsic(of: classUID(of: fields, at: target)) { return true }
        return false
    }

    /// The error for a value of another type than the one asked for.
    func mismatch(
        _ type: Any.Type,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        asked: String? = nil
    ) -> DecodingError {
        let cause = mismatch(asked ?? "\(type)", reference)
        return DecodingError.typeMismatch(type, context(cause.message, path, cause))
    }

    func context(
        _ text: String,
        _ path: CodingPath?,
        _ cause: ArchiveError? = nil
    ) -> DecodingError.Context {
        DecodingError.Context(codingPath: CodingPath.keys(path), debugDescription: text, underlyingError: cause)
    }
}

extension ArchiveError {
    /// The archive's view of an error in the standard library's words.
    init(_ error: DecodingError) {
        let (code, context): (Code, DecodingError.Context) =
            switch error {
            case .typeMismatch(_, let context): (.typeMismatch, context)
            case .valueNotFound(_, let context): (.missingValue, context)
            case .keyNotFound(let key, let context):
                (
                    .missingValue,
                    DecodingError.Context(
                        codingPath: context.codingPath + [key],
                        debugDescription: "no value"
                    )
                )
            case .dataCorrupted(let context):
                ((context.underlyingError as? ArchiveError)?.code ?? .decodingFailed, context)
            @unknown default: (.decodingFailed, DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        self.init(
            code,
            context.debugDescription,
            offset: (context.underlyingError as? ArchiveError)?.offset,
            keyPath: context.codingPath.map(\.stringValue),
            cause: error
        )
    }
}

/// Decodes one Codable value.
struct ArchiveDecoder: Decoder {
    let unarchiver: KeyedUnarchiver
    let reference: BinaryPropertyList.Reference
    let path: CodingPath?
    /// The root's type if this decodes the root, so that the root's class is compared with it; otherwise `nil`.
    private let root: Any.Type?

    init(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        root: Any.Type? = nil
    ) {
        self.unarchiver = unarchiver
        self.reference = reference
        self.path = path
        self.root = root
    }

    var codingPath: [any CodingKey] { CodingPath.keys(path) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let root { try unarchiver.checkClass(at: reference, is: root) }
        return KeyedDecodingContainer(
            try ArchivedKeyedContainer<Key>(unarchiver, reference, path, root: root)
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try ArchivedArrayContainer(unarchiver, reference, path)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ArchiveDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { (try? unarchiver.isAbsent(reference)) ?? false }
    func decode(_ type: Bool.Type) throws -> Bool { try number(\.bool) }
    func decode(_ type: String.Type) throws -> String { try unarchiver.intrinsic(type, at: reference, path) }
    func decode(_ type: Double.Type) throws -> Double { try number(\.double) }
    func decode(_ type: Float.Type) throws -> Float { try number(\.float) }
    func decode(_ type: Int.Type) throws -> Int { try number { $0.integer(type) } }
    func decode(_ type: Int8.Type) throws -> Int8 { try number { $0.integer(type) } }
    func decode(_ type: Int16.Type) throws -> Int16 { try number { $0.integer(type) } }
    func decode(_ type: Int32.Type) throws -> Int32 { try number { $0.integer(type) } }
    func decode(_ type: Int64.Type) throws -> Int64 { try number { $0.integer(type) } }
    func decode(_ type: UInt.Type) throws -> UInt { try number { $0.integer(type) } }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number { $0.integer(type) } }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number { $0.integer(type) } }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number { $0.integer(type) } }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number { $0.integer(type) } }

    private func number<T>(_ convert: (ArchivedNumber) -> T?) throws -> T {
        try unarchiver.number(at: reference, path, convert)
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try unarchiver.decode(type, at: reference, path, isRoot: root != nil)
    }
}

/// A dictionary with string or integer keys, read from an `NSDictionary`.
protocol UnarchivableDictionary {
    /// Reads the dictionary; `nil` if its keys are of another type, so that Codable's own form is used.
    static func make(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?
    ) throws -> Any?
}

extension Dictionary: UnarchivableDictionary where Value: Decodable {
    static func make(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?
    ) throws -> Any? {
        guard Key.self == String.self || Key.self == Int.self else { return nil }
        guard let entries = try unarchiver.dictionaryEntries(at: reference) else {
            throw unarchiver.mismatch(Self.self, reference, path)
        }
        var dictionary: [Key: Value] = [:]
        dictionary.reserveCapacity(entries.count)
        for (keyReference, valueReference) in entries {
            // `as? Int` too: integers arrive as NSNumber, which bridges.
            guard let key = try unarchiver.plainObject(Key.self, at: keyReference, path) as? Key else {
                throw unarchiver.mismatch(Key.self, keyReference, path)
            }
            let path = CodingPath(path, ArchiveKey(stringValue: "\(key)"))
            dictionary[key] = try unarchiver.decode(Value.self, at: valueReference, path)
        }
        return dictionary
    }
}

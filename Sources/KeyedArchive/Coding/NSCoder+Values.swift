import Foundation

// For new code inside `encode(with:)` and `init(coder:)`: accessors that throw, and values of Codable types.

extension NSCoder {
    /// The value under a key.
    ///
    /// Numbers are converted where nothing is lost. The type may be any class that `NSCoding` can decode, any
    /// property-list type or any Decodable type; the class and its subclasses may be instantiated.
    ///
    /// An initializer that returns `nil` after this has thrown fails with this error.
    ///
    /// - Throws: ``ArchiveError`` with code `.missingValue` if there is none or it is nil, `.typeMismatch` if it is
    ///   of another kind, `.outOfRange` if it is a number that does not fit, and every error of decoding an object.
    public func decode<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T {
        if let value = try decodeIfPresent(type, forKey: key) { return value }
        let error = ArchiveError(.missingValue, "no value, where \(T.self) is expected", keyPath: [key])
        (self as? KeyedUnarchiver)?.frame.thrown = error
        throw error
    }

    /// The value under a key; `nil` if there is none or it is nil.
    ///
    /// - Throws: as ``decode(_:forKey:)``, less `.missingValue`.
    public func decodeIfPresent<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
        if let unarchiver = self as? KeyedUnarchiver { return try unarchiver.typedValue(type, forKey: key) }
        guard containsValue(forKey: key), let object = decodeObject(forKey: key) else { return nil }
        guard let typed = object as? T else {
            throw ArchiveError.mismatch(object, asked: T.self, forKey: key)
        }
        return typed
    }

    /// Archives a Codable value under a key, as `KeyedArchiver.archivedData(encoding:)` would.
    ///
    /// - Throws: ``ArchiveError`` with code `.encodingFailed` and the cause if the value's `encode(to:)` throws,
    ///   `.unsupportedType` if this is not a ``KeyedArchiver``.
    public func encodeEncodable(_ value: some Encodable, forKey key: String) throws(ArchiveError) {
        guard let archiver = self as? KeyedArchiver else {
            throw ArchiveError(.unsupportedType, "Codable values are archived by KeyedArchiver only")
        }
        archiver.encode(codable: value, forKey: key)
        if let error = archiver.error as? ArchiveError { throw error }
    }

    /// The Codable value under a key, or `nil` if there is none or it is nil. An error is recorded by the coder, and
    /// thrown at the root.
    public func decodeDecodable<T: Decodable>(_ type: T.Type, forKey key: String) -> T? {
        do throws(ArchiveError) {
            return try decodeIfPresent(type, forKey: key)
        } catch {
            failWithError(error)
            return nil
        }
    }

    /// The Codable value under a key, or `nil` if there is none or it is nil.
    ///
    /// - Throws: as ``decode(_:forKey:)``, less `.missingValue`.
    public func decodeTopLevelDecodable<T: Decodable>(
        _ type: T.Type,
        forKey key: String
    ) throws(ArchiveError) -> T? {
        try decodeIfPresent(type, forKey: key)
    }
}

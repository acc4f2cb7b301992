import Foundation

// For new code inside `encode(with:)` and `init(coder:)`: accessors that throw, and values of Codable types.

extension NSCoder {
    /// The value under a key.
    ///
    /// Numbers are converted where nothing is lost. Any class that `NSCoding` can decode, any property-list type and
    /// any Decodable type can be asked for; the class that is asked for may be instantiated, with its subclasses.
    ///
    /// An initializer that returns `nil` after this has thrown fails with this error.
    ///
    /// - Throws: ``ArchiveError`` with code `.missingValue` if there is none or it is nil, `.typeMismatch` if it is
    ///   of another kind, `.outOfRange` if it is a number that does not fit, and every error of decoding an object.
    public func decode<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T {
        if let value = try decodeIfPresent(type, forKey: key) { return value }
        let error = ArchiveError(.missingValue, "no value, where \(T.self) is asked for", keyPath: [key])
        (self as? KeyedUnarchiver)?.thrown = error
        throw error
    }

    /// The value under a key; `nil` if there is none or it is nil.
    ///
    /// - Throws: as ``decode(_:forKey:)``, less `.missingValue`.
    public func decodeIfPresent<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
        if let unarchiver = self as? KeyedUnarchiver { return try unarchiver.typedValue(type, forKey: key) }
        guard containsValue(forKey: key), let object = decodeObject(forKey: key) else { return nil }
        guard let typed = object as? T else {
            throw ArchiveError.mismatch(object, T.self, key)
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

extension KeyedUnarchiver {
    /// A value of any type that can be decoded; `nil` if there is none or it is nil.
    fileprivate func typedValue<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
        do throws(ArchiveError) {
            if let error = error as? ArchiveError { throw error }
            guard let reference = try value(of: key), try resolve(reference) != nil else { return nil }
            let value =
                type is AnyClass || !(type is any Decodable.Type)
                ? try object(type, at: reference) : try decodedValue(type, at: reference)
            if cycles.isWaiting { deliverReferences() }
            if let error = error as? ArchiveError { throw error }
            return value
        } catch {
            let error = error.within(key)
            thrown = error
            throw error
        }
    }

    private func object<T>(_ type: T.Type, at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> T? {
        let outer = expected
        if let cls = type as? AnyClass { expected.add(cls) }
        defer { expected = outer }
        let object = try object(at: reference)
        if let error = error as? ArchiveError { throw error }
        guard let object else {
            throw refusal(of: "what is asked for as \(ClassNames.name(of: T.self))", reference)
        }
        guard let typed = object as? T else { throw mismatch(ClassNames.name(of: T.self), reference) }
        return typed
    }

    private func decodedValue<T>(_ type: T.Type, at reference: BinaryPropertyList.Reference) throws(ArchiveError)
        -> T?
    {
        func decoded<Value: Decodable>(_ type: Value.Type) throws -> Any {
            try decode(type, at: reference, nil)
        }
        guard let decodable = type as? any Decodable.Type else { return nil }
        do {
            return try decoded(decodable) as? T
        } catch let error as ArchiveError {
            throw error
        } catch let error as DecodingError {
            throw ArchiveError(error)
        } catch {
            let thrown = ClassNames.name(of: Swift.type(of: error))
            throw ArchiveError(.decodingFailed, "the init(from:) of \(T.self) threw a \(thrown)", cause: error)
        }
    }
}

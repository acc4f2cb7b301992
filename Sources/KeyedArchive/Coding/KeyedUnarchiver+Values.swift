import Foundation

extension KeyedUnarchiver {
    /// A value of any type that can be decoded; `nil` if there is none or it is nil.
    func typedValue<T>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
        do throws(ArchiveError) {
            if let error = error as? ArchiveError { throw error }
            guard let reference = try value(of: key), try source.resolve(reference) != nil else { return nil }
            let value =
                type is AnyClass || !(type is any Decodable.Type)
                ? try object(type, at: reference) : try decodedValue(type, at: reference)
            if cycles.isWaiting { deliverReferences() }
            if let error = error as? ArchiveError { throw error }
            return value
        } catch {
            let error = error.within(key)
            frame.thrown = error
            throw error
        }
    }

    private func object<T>(_ type: T.Type, at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> T? {
        let outer = classes.expected
        if let cls = type as? AnyClass { classes.expected.add(cls) }
        defer { classes.expected = outer }
        let object = try object(at: reference)
        if let error = error as? ArchiveError { throw error }
        guard let object else {
            throw refusal(of: "a value decoded as \(ClassNames.name(of: T.self))", reference)
        }
        guard let typed = object as? T else { throw mismatch(ClassNames.name(of: T.self), reference) }
        return typed
    }

    private func decodedValue<T>(_ type: T.Type, at reference: BinaryPropertyList.Reference) throws(ArchiveError)
        -> T?
    {
        func decoded<Value: Decodable>(_ type: Value.Type) throws -> Any {
            try ArchiveDecoder(self, at: reference, path: nil).decode(type)
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

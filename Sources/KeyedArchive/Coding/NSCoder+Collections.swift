import Foundation

#if !canImport(Darwin)
    // Methods that Foundation has on Apple platforms only.
    extension NSCoder {
        /// The array under a key, with members of one class; `nil` if there is none. Anything else is recorded as an
        /// error.
        public func decodeArrayOfObjects<T: NSObject & NSCoding>(ofClass type: T.Type, forKey key: String) -> [T]? {
            cast(decodeObject(of: [NSArray.self, type], forKey: key), to: [T].self, forKey: key)
        }

        /// The array under a key, with members of the given classes; `nil` if there is none. Anything else is
        /// recorded as an error.
        public func decodeArrayOfObjects(ofClasses classes: [AnyClass], forKey key: String) -> [Any]? {
            cast(decodeObject(of: [NSArray.self] + classes, forKey: key), to: [Any].self, forKey: key)
        }

        /// The dictionary under a key, with keys of one class and values of one class; `nil` if there is none.
        /// Anything else is recorded as an error.
        public func decodeDictionary<Key: NSObject & NSCopying & NSCoding, Value: NSObject & NSCoding>(
            withKeyClass keyType: Key.Type,
            objectClass valueType: Value.Type,
            forKey key: String
        ) -> [Key: Value]? {
            let classes: [AnyClass] = [NSDictionary.self, keyType, valueType]
            return cast(decodeObject(of: classes, forKey: key), to: [Key: Value].self, forKey: key)
        }

        /// The dictionary under a key, with keys and values of the given classes; `nil` if there is none. Anything
        /// else is recorded as an error.
        public func decodeDictionary(
            withKeysOfClasses keyTypes: [AnyClass],
            objectsOfClasses valueTypes: [AnyClass],
            forKey key: String
        ) -> [AnyHashable: Any]? {
            let classes = [NSDictionary.self] + keyTypes + valueTypes
            return cast(decodeObject(of: classes, forKey: key), to: [AnyHashable: Any].self, forKey: key)
        }

    }
#endif

extension NSCoder {
    /// An object as a value of a type, or `nil` and an error that is recorded.
    func cast<T>(_ object: Any?, to type: T.Type, forKey key: String) -> T? {
        guard let object else { return nil }
        if let typed = object as? T { return typed }
        failWithError(ArchiveError.mismatch(object, asked: type, forKey: key))
        return nil
    }
}

import Foundation

// Foundation's other names for unarchiving a root, so that code that calls them compiles with one word replaced.
// `unarchivedObject(ofClass:allowing:from:)`, with the type that is asked for, is the one for new code.

extension KeyedUnarchiver {
    /// Unarchives the object under the key `root`, which must be of one of the classes or bridge to one.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchivedObject(ofClasses:from:)`.
    ///
    /// With collections among the classes, their members must be of one of the classes too, or strings, numbers, data,
    /// dates, arrays and dictionaries, which need no name there, as in Foundation.
    ///
    /// - Returns: the object; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedObject(
        ofClasses classes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> Any? {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        let object = unarchiver.decodeObject(amongClasses: classes, forKey: KeyedArchiver.rootKey)
        return try unarchiver.checkedRoot(object)
    }

    /// Unarchives an array with members of one class.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass:from:)`, for classes without secure coding too.
    ///
    /// - Returns: the array; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedArrayOfObjects<T: NSObject & NSCoding>(
        ofClass type: T.Type,
        from data: Data
    ) throws(ArchiveError) -> [T]? {
        try cast(unarchivedObject(ofClasses: [NSArray.self, type], from: data), to: [T].self)
    }

    /// Unarchives an array with members of the given classes.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClasses:from:)`.
    ///
    /// - Returns: the array; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedArrayOfObjects(
        ofClasses classes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> [Any]? {
        try cast(unarchivedObject(ofClasses: [NSArray.self] + classes, from: data), to: [Any].self)
    }

    /// Unarchives a dictionary with keys of one class and values of one class.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchivedDictionary(ofKeyClass:objectClass:from:)`, for classes without secure
    /// coding too.
    ///
    /// - Returns: the dictionary; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedDictionary<Key: NSObject & NSCopying & NSCoding, Value: NSObject & NSCoding>(
        ofKeyClass keyType: Key.Type,
        objectClass valueType: Value.Type,
        from data: Data
    ) throws(ArchiveError) -> [Key: Value]? {
        let classes: [AnyClass] = [NSDictionary.self, keyType, valueType]
        return try cast(unarchivedObject(ofClasses: classes, from: data), to: [Key: Value].self)
    }

    /// Unarchives a dictionary with keys and values of the given classes.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchivedDictionary(ofKeyClasses:objectClasses:from:)`.
    ///
    /// - Returns: the dictionary; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedDictionary(
        ofKeyClasses keyTypes: [AnyClass],
        objectClasses valueTypes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> [AnyHashable: Any]? {
        let classes = [NSDictionary.self] + keyTypes + valueTypes
        return try cast(unarchivedObject(ofClasses: classes, from: data), to: [AnyHashable: Any].self)
    }

    /// Unarchives the object under the key `root`, of any of the classes named or a property-list type.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchiveObject(with:)` takes any class and raises an exception; this takes
    /// only the named classes, and throws.
    ///
    /// - Returns: the object; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchiveObject(
        with data: Data,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchivedRoot(nil, allowing: classes, from: data)
    }

    /// Unarchives the object under the key `root` of the archive in a file. Blocks on disk I/O.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchiveObject(withFile:)`, which returns `nil` for a
    /// failure; this throws.
    ///
    /// - Returns: the object; `nil` if nil was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`, and `.io` with the cause if the file cannot be read.
    public static func unarchiveObject(
        withFile path: String,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchiveObject(with: ArchiveFile.read(path), allowing: classes)
    }

    /// Unarchives the object under the key `root`: the same as ``unarchiveObject(with:allowing:)``.
    ///
    /// Foundation's `NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(_:)`, which takes any class; this takes those
    /// that are named.
    ///
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchiveTopLevelObjectWithData(
        _ data: Data,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchiveObject(with: data, allowing: classes)
    }

    private static func cast<T>(_ object: Any?, to type: T.Type) throws(ArchiveError) -> T? {
        guard let object else { return nil }
        guard let typed = object as? T else { throw mismatch(object, type) }
        return typed
    }
}

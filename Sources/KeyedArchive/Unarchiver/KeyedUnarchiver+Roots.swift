import Foundation

extension KeyedUnarchiver {
    /// Unarchives the object under the key `root`.
    ///
    /// - Parameters:
    ///   - type: the class that is expected; the object may be of a subclass. Value types that are stored as
    ///     property-list objects (`String`, `[String]`, `Date`, …) are possible too.
    ///   - classes: further classes that may be instantiated inside the graph, with their subclasses.
    ///   - data: the archive's bytes.
    /// - Returns: the object; `nil` if it is nil that was archived.
    /// - Throws: ``ArchiveError`` with code `.typeMismatch` if the root is of another type, `.missingValue` if
    ///   there is no root, `.classNotAllowed` for a class that is not expected, `.decodingFailed` if the
    ///   object's `init(coder:)` returned `nil`, `.cyclicReference` for a cycle that cannot be restored,
    ///   `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if the bytes are no sound archive,
    ///   `.limitExceeded` if it is larger or nests deeper than ``ArchiveLimits`` allow.
    /// - Complexity: O(*n*) in the objects that are decoded.
    // Inlinable: where the type is known a cast takes 10 ns, and elsewhere 100.
    @inlinable
    public static func unarchivedObject<T>(
        ofClass type: T.Type,
        allowing classes: [AnyClass] = [],
        from data: Data
    ) throws(ArchiveError) -> T? {
        guard let root = try unarchivedRoot(type as? AnyClass, allowing: classes, from: data) else { return nil }
        guard let object = root as? T else { throw mismatch(root, type) }
        return object
    }

    @usableFromInline
    static func unarchivedRoot(
        _ type: AnyClass?,
        allowing classes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> Any? {
        guard data.count <= ArchiveLimits().byteCount else {
            throw ArchiveError(.limitExceeded, "an archive of more than \(ArchiveLimits().byteCount) bytes")
        }
        return try KeyedUnarchiver(UnarchiverMemoryPool.take(copying: data), type, classes).root()
    }

    @usableFromInline
    static func mismatch(_ object: Any, _ type: Any.Type) -> ArchiveError {
        ArchiveError(
            .typeMismatch,
            "the root is \(ClassNames.name(of: Swift.type(of: object))), not \(ClassNames.name(of: type))"
        )
    }

    /// Unarchives the object under the key `root`, which must be of one of the classes or bridge to one.
    ///
    /// With collections among the classes, their members must be of one of the classes too.
    ///
    /// - Returns: the object; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedObject(
        ofClasses classes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> Any? {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        let object = unarchiver.decodeObject(amongClasses: classes, forKey: KeyedArchiver.rootKey)
        return try unarchiver.checkedRoot(object)
    }

    /// Unarchives an array whose members are of one class.
    ///
    /// - Returns: the array; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedArrayOfObjects<T: NSObject & NSCoding>(
        ofClass type: T.Type,
        from data: Data
    ) throws(ArchiveError) -> [T]? {
        try cast(unarchivedObject(ofClasses: [NSArray.self, type], from: data), to: [T].self)
    }

    /// Unarchives an array whose members are of some classes.
    ///
    /// - Returns: the array; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedArrayOfObjects(
        ofClasses classes: [AnyClass],
        from data: Data
    ) throws(ArchiveError) -> [Any]? {
        try cast(unarchivedObject(ofClasses: [NSArray.self] + classes, from: data), to: [Any].self)
    }

    /// Unarchives a dictionary whose keys and values are of one class each.
    ///
    /// - Returns: the dictionary; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchivedDictionary<Key: NSObject & NSCopying & NSCoding, Value: NSObject & NSCoding>(
        ofKeyClass keyType: Key.Type,
        objectClass valueType: Value.Type,
        from data: Data
    ) throws(ArchiveError) -> [Key: Value]? {
        let classes: [AnyClass] = [NSDictionary.self, keyType, valueType]
        return try cast(unarchivedObject(ofClasses: classes, from: data), to: [Key: Value].self)
    }

    /// Unarchives a dictionary whose keys and values are of some classes.
    ///
    /// - Returns: the dictionary; `nil` if it is nil that was archived.
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
    /// - Returns: the object; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchiveObject(
        with data: Data,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchivedRoot(nil, allowing: classes, from: data)
    }

    /// Unarchives the object under the key `root` of the archive in a file. Blocks on disk I/O.
    ///
    /// - Returns: the object; `nil` if it is nil that was archived.
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`, and `.io` with the cause if the file cannot be read.
    public static func unarchiveObject(
        withFile path: String,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ArchiveError(.io, "the archive could not be read", cause: error)
        }
        return try unarchiveObject(with: data, allowing: classes)
    }

    /// The same as ``unarchiveObject(with:allowing:)``.
    public static func unarchiveTopLevelObjectWithData(
        _ data: Data,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchiveObject(with: data, allowing: classes)
    }

    package static func unarchive<T>(
        _ type: T.Type,
        allowing classes: [AnyClass] = [],
        from bytes: [UInt8],
        isTrial: Bool = false
    ) throws(ArchiveError) -> T {
        let memory = UnarchiverMemoryPool.take(copying: bytes)
        let unarchiver = try KeyedUnarchiver(memory, type as? AnyClass, classes)
        unarchiver.cycles.isTrial = isTrial
        guard let root = try unarchiver.root() else {
            throw ArchiveError(.missingValue, "the root is nil, where \(ClassNames.name(of: T.self)) is asked for")
        }
        guard let object = root as? T else { throw mismatch(root, type) }
        return object
    }

    private func root() throws(ArchiveError) -> Any? {
        try checkedRoot(decodeObject(forKey: KeyedArchiver.rootKey))
    }

    /// What was decoded as the root, or the reason why there is nothing.
    private func checkedRoot(_ object: Any?) throws(ArchiveError) -> Any? {
        if let error = error as? ArchiveError { throw error }
        if let object { return object }
        guard let reference = try value(of: KeyedArchiver.rootKey) else {
            throw ArchiveError(.missingValue, "the archive has no root object")
        }
        if try isNull(reference) { return nil }
        throw ArchiveError(.decodingFailed, "the root object refused to be decoded")
    }

    private static func cast<T>(_ object: Any?, to type: T.Type) throws(ArchiveError) -> T? {
        guard let object else { return nil }
        guard let typed = object as? T else { throw mismatch(object, type) }
        return typed
    }
}

// MARK: Names of classes

extension KeyedUnarchiver {
    /// Says which class a name stands for in all archives of the process; `nil` takes that back.
    ///
    /// An unarchiver's own class for the name goes before. Which classes may be instantiated is not changed.
    public static func setClass(_ cls: AnyClass?, forClassName codedName: String) {
        GivenClasses.set(forProcess: cls, for: codedName)
    }

    /// The class that `setClass(_:forClassName:)` gave to a name for the process, or `nil`.
    public static func `class`(forClassName codedName: String) -> AnyClass? { GivenClasses.ofProcess(codedName) }

    /// Says which class a name stands for in this archive; `nil` takes that back.
    ///
    /// Which classes may be instantiated is not changed.
    public func setClass(_ cls: AnyClass?, forClassName codedName: String) { givenClasses[codedName] = cls }

    /// The class that `setClass(_:forClassName:)` gave to a name for this archive, or `nil`.
    public func `class`(forClassName codedName: String) -> AnyClass? { givenClasses[codedName] }
}

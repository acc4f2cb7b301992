import Foundation

extension KeyedUnarchiver {
    /// Unarchives the object under the key `root`.
    ///
    /// - Parameters:
    ///   - type: the class that is expected; the object may be of a subclass. Value types that are stored as
    ///     property-list objects (`String`, `[String]`, `Date`, …) are possible too.
    ///   - classes: further classes that may be instantiated inside the graph, with their subclasses.
    ///   - data: the archive's bytes.
    /// - Returns: the object; `nil` if nil was archived.
    /// - Throws: ``ArchiveError`` with code `.typeMismatch` if the root is of another type, `.missingValue` if
    ///   there is no root, `.classNotAllowed` for a class that is not expected, `.decodingFailed` if the
    ///   object's `init(coder:)` returned `nil`, `.cyclicReference` for a cycle that cannot be restored,
    ///   `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if the bytes are not a sound archive,
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
        if let object = content(of: root, as: type) { return object }
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
        return try withAutoreleasePool { () throws(ArchiveError) in
            try KeyedUnarchiver(UnarchiverMemoryPool.take(copying: data), root: type, classes: classes).root()
        }
    }

    @usableFromInline
    static func mismatch(_ object: Any, _ type: Any.Type) -> ArchiveError {
        ArchiveError(
            .typeMismatch,
            "the root is \(ClassNames.name(of: Swift.type(of: object))), not \(ClassNames.name(of: type))"
        )
    }

    package static func unarchive<T>(
        _ type: T.Type,
        allowing classes: [AnyClass] = [],
        from bytes: [UInt8],
        isTrial: Bool = false
    ) throws(ArchiveError) -> T {
        try unarchive(type, allowing: classes, in: UnarchiverMemoryPool.take(copying: bytes), isTrial: isTrial)
    }

    static func unarchive<T>(
        _ type: T.Type,
        allowing classes: [AnyClass],
        in memory: UnarchiverMemory,
        limits: ArchiveLimits = ArchiveLimits(),
        isTrial: Bool = false
    ) throws(ArchiveError) -> T {
        let found = try withAutoreleasePool { () throws(ArchiveError) in
            let unarchiver = try KeyedUnarchiver(memory, root: type as? AnyClass, classes: classes, limits: limits)
            unarchiver.cycles.isTrial = isTrial
            return try unarchiver.root()
        }
        guard let root = found else {
            throw ArchiveError(.missingValue, "the root is nil, where \(ClassNames.name(of: T.self)) is expected")
        }
        guard let object = root as? T else { throw mismatch(root, type) }
        return object
    }

    func root() throws(ArchiveError) -> Any? {
        guard let object = decodeObject(forKey: KeyedArchiver.rootKey) else { return try checkedRoot(nil) }
        return object
    }

    /// The object that was decoded as the root, or `nil` if nil was archived.
    ///
    /// - Throws: the reason why there is no object otherwise.
    func checkedRoot(_ object: Any?) throws(ArchiveError) -> Any? {
        if let error = error as? ArchiveError { throw error }
        if let object { return object }
        guard let reference = try value(of: KeyedArchiver.rootKey) else {
            throw ArchiveError(.missingValue, "the archive has no root object")
        }
        if try source.isReferenceToNil(reference) { return nil }
        throw refusal(of: "the root", reference)
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
    public func setClass(_ cls: AnyClass?, forClassName codedName: String) { classes.given[codedName] = cls }

    /// The class that `setClass(_:forClassName:)` gave to a name for this archive, or `nil`.
    public func `class`(forClassName codedName: String) -> AnyClass? { classes.given[codedName] }
}

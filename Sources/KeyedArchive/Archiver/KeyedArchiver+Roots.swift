import Foundation

extension KeyedArchiver {
    /// Archives one object graph under the key `root`.
    ///
    /// - Parameters:
    ///   - object: an object that adopts `NSCoding`, or a string, number, date, collection, ….
    ///   - requiringSecureCoding: whether every object must adopt `NSSecureCoding`.
    /// - Throws: ``ArchiveError`` with code `.unsupportedType` if something in the graph cannot be archived,
    ///   `.limitExceeded` if it nests more than 1,000 deep, or the error that an object's own coding recorded.
    /// - Complexity: O(*n*) in the objects of the graph.
    public static func archivedData(
        withRootObject object: Any,
        requiringSecureCoding: Bool = false
    ) throws(ArchiveError) -> Data {
        try withAutoreleasePool { () throws(ArchiveError) in
            let archiver = KeyedArchiver(requiringSecureCoding: requiringSecureCoding)
            archiver.encode(root: object)
            return try archiver.finish { $0.finishedData() }
        }
    }
}

// MARK: Names of classes

extension KeyedArchiver {
    /// Gives a class another name in all archives of the process; `nil` takes that back.
    ///
    /// An archiver's own name for the class goes before. The archive does not name the superclasses of a class
    /// that was given a name.
    public static func setClassName(_ codedName: String?, for cls: AnyClass) {
        GivenClassNames.set(forProcess: codedName, for: cls)
    }

    /// The name that `setClassName(_:for:)` gave to a class for the process, or `nil`.
    public static func className(for cls: AnyClass) -> String? { GivenClassNames.name(ofProcessFor: cls) }

    /// Gives a class another name in this archive; `nil` takes that back.
    ///
    /// Takes effect for classes of which no instance was encoded yet.
    public func setClassName(_ codedName: String?, for cls: AnyClass) { writer.givenNames[cls] = codedName }

    /// The name that `setClassName(_:for:)` gave to a class for this archive, or `nil`.
    public func className(for cls: AnyClass) -> String? { writer.givenNames[cls] }
}

/// Looks at, and may replace, every object that an unarchiver decodes, and finds classes for names that the
/// unarchiver does not know.
///
/// All methods have an implementation that changes nothing.
public protocol KeyedUnarchiverDelegate: AnyObject {
    /// Called when the class of an object is not known, or not expected.
    ///
    /// - Parameters:
    ///   - unarchiver: the unarchiver that asks.
    ///   - name: the class's name in the archive.
    ///   - classNames: the names of the class and its superclasses as the archive has them; empty if it has none.
    /// - Returns: the class to instantiate, which must be one of the expected classes, or `nil`.
    func unarchiver(
        _ unarchiver: KeyedUnarchiver,
        cannotDecodeObjectOfClassName name: String,
        originalClasses classNames: [String]
    ) -> AnyClass?

    /// Called when an object or value was decoded.
    ///
    /// - Returns: the object or value to take its place; the object itself or `nil` to leave it.
    func unarchiver(_ unarchiver: KeyedUnarchiver, didDecode object: Any?) -> Any?

    /// Called when `didDecode` replaces an object by another.
    func unarchiver(_ unarchiver: KeyedUnarchiver, willReplace object: Any, with newObject: Any)

    /// Called when `finishDecoding()` begins.
    func unarchiverWillFinish(_ unarchiver: KeyedUnarchiver)

    /// Called when `finishDecoding()` ends without an error.
    func unarchiverDidFinish(_ unarchiver: KeyedUnarchiver)
}

extension KeyedUnarchiverDelegate {
    public func unarchiver(
        _ unarchiver: KeyedUnarchiver,
        cannotDecodeObjectOfClassName name: String,
        originalClasses classNames: [String]
    ) -> AnyClass? { nil }
    public func unarchiver(_ unarchiver: KeyedUnarchiver, didDecode object: Any?) -> Any? { object }
    public func unarchiver(_ unarchiver: KeyedUnarchiver, willReplace object: Any, with newObject: Any) {}
    public func unarchiverWillFinish(_ unarchiver: KeyedUnarchiver) {}
    public func unarchiverDidFinish(_ unarchiver: KeyedUnarchiver) {}
}

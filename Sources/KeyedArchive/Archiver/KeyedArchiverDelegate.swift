/// Looks at, and may replace, every object that an archiver writes.
///
/// All methods have an implementation that changes nothing.
public protocol KeyedArchiverDelegate: AnyObject {
    /// Called before an object or value is encoded for the first time.
    ///
    /// - Returns: the object or value to encode in its place, the object itself, or `nil` to encode nil, which as a member of a
    ///   collection is an error of code `.encodingFailed`.
    func archiver(_ archiver: KeyedArchiver, willEncode object: Any) -> Any?

    /// Called after an object or value was encoded.
    func archiver(_ archiver: KeyedArchiver, didEncode object: Any?)

    /// Called when an object is replaced by another: by its `replacementObject(for:)` or by `willEncode`.
    func archiver(_ archiver: KeyedArchiver, willReplace object: Any?, withObject newObject: Any?)

    /// Called before the archive is finished, while encoding is still possible.
    func archiverWillFinish(_ archiver: KeyedArchiver)

    /// Called after the archive was finished.
    func archiverDidFinish(_ archiver: KeyedArchiver)
}

extension KeyedArchiverDelegate {
    public func archiver(_ archiver: KeyedArchiver, willEncode object: Any) -> Any? { object }
    public func archiver(_ archiver: KeyedArchiver, didEncode object: Any?) {}
    public func archiver(_ archiver: KeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {}
    public func archiverWillFinish(_ archiver: KeyedArchiver) {}
    public func archiverDidFinish(_ archiver: KeyedArchiver) {}
}

import Foundation

extension NSCoder {
    /// Decodes the object under a key when the whole graph has been decoded, and hands it over then.
    ///
    /// For references back to an object that is still being decoded: a part's owner, a list's previous member. This
    /// works for every class, regardless of its stored properties.
    ///
    /// ```swift
    /// required init?(coder: NSCoder) {
    ///     name = coder.decodeObject(forKey: "name") as? String ?? ""
    ///     super.init()
    ///     coder.decodeObject(of: Folder.self, forKey: "parent") { [unowned self] in parent = $0 }
    /// }
    /// ```
    ///
    /// A coder other than ``KeyedUnarchiver`` decodes the object at once.
    ///
    /// - Parameters:
    ///   - type: the class of the object, which may be of a subclass; it may be instantiated.
    ///   - key: where the reference was encoded.
    ///   - deliver: gets the object, on this thread, before the outermost decoding call returns; not called if there
    ///     is not an object or decoding fails.
    public func decodeObject<T: NSObject & NSCoding>(
        of type: T.Type,
        forKey key: String,
        whenComplete deliver: @escaping (T) -> Void
    ) {
        if let unarchiver = self as? KeyedUnarchiver {
            unarchiver.wait(for: type, forKey: key, deliver)
        } else if let object = decodeObject(of: type, forKey: key) {
            deliver(object)
        }
    }
}

import Foundation

// Foundation's other names, so that code that calls them compiles with one word replaced. Those of `NSCoder` that are
// overridden stand in `KeyedArchiver.swift`, where the language wants them.

extension KeyedArchiver {
    /// Archives one object graph into a file, which is replaced as a whole or not at all.
    ///
    /// Foundation's `NSKeyedArchiver.archiveRootObject(_:toFile:)`, which returns `false` for a failure; this throws.
    /// Blocks on disk I/O.
    ///
    /// - Throws: ``ArchiveError`` as `archivedData(withRootObject:requiringSecureCoding:)` does, and with code `.io`
    ///   and the cause if the file cannot be written.
    public static func archiveRootObject(_ object: Any, toFile path: String) throws(ArchiveError) {
        try ArchiveFile.write(archivedData(withRootObject: object), to: path)
    }

    /// Encodes a value of a property list under a key, as `encode(_:forKey:)` does.
    ///
    /// The counterpart of Foundation's `NSKeyedUnarchiver.decodePropertyList(forKey:)`.
    public func encodePropertyList(_ list: Any, forKey key: String) { encode(list as Any?, forKey: key) }
}

import Foundation

/// Property lists as Foundation's objects: the functions of Foundation's `PropertyListSerialization`.
public enum PropertyListObjects {
    /// Which objects of a list that is read can be changed.
    public struct ReadOptions: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: UInt
        /// Makes options of their bits; unknown bits have no effect.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Swift values: `[String: Any]`, `[Any]`, `String`, `NSNumber`, `Bool`, `Data`, `Date`.
        public static let immutable: ReadOptions = []
        /// `NSMutableDictionary` and `NSMutableArray`.
        public static let mutableContainers = ReadOptions(rawValue: 1)
        /// These, and `NSMutableString` and `NSMutableData`; keys stay immutable.
        public static let mutableContainersAndLeaves = ReadOptions(rawValue: 2)
    }

    /// Reads a property list of any format. O(*n*) in the bytes.
    ///
    /// All else is as for ``propertyList(from:options:format:limits:)``.
    public static func propertyList(
        from data: Data,
        options: ReadOptions = [],
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) -> Any {
        var format = PropertyListFormat.binary
        return try propertyList(from: data, options: options, format: &format, limits: limits)
    }

    /// Reads a property list of any format, and says which it has. O(*n*) in the bytes.
    ///
    /// - Parameters:
    ///   - data: the list.
    ///   - options: which of its objects can be changed.
    ///   - format: is set to the list's format.
    ///   - limits: bounds of the list's bytes, depth and values.
    /// - Throws: ``PropertyListError`` with the place of the fault; with code `.limitExceeded`, too, for a set that holds a
    ///   container, for a set or a dictionary of Foundation with more than 1,024 members of one hash, and for more members,
    ///   data above all, than the list's size can justify to compare.
    public static func propertyList(
        from data: Data,
        options: ReadOptions = [],
        format: inout PropertyListFormat,
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) -> Any {
        let table = try NodeTable.read([UInt8](data), limits: limits)
        format = table.format
        var reader = ObjectReader(table, options)
        let object = reader.object(table.nodes[NodeTable.root])
        if let fault = reader.fault { throw fault }
        return object
    }

    /// The property list of an object. O(*n*).
    ///
    /// - Throws: ``PropertyListError`` with code `.notRepresentable` for an object that property lists do not have,
    ///   or that the format has no form of, and `.limitExceeded` for more than 8,000,000 values, and for more containers
    ///   in each other than 512 or than this thread's stack has room for.
    public static func data(fromPropertyList plist: Any, format: PropertyListFormat) throws(PropertyListError)
        -> Data
    {
        var writer = ObjectWriter()
        _ = try writer.append(plist, depth: 0)
        return try NodeTable(writer.builder, format: format).written(as: format)
    }

    /// Whether ``data(fromPropertyList:format:)`` can write an object in a format, on this thread. O(*n*).
    public static func propertyList(_ plist: Any, isValidFor format: PropertyListFormat) -> Bool {
        do throws(PropertyListError) {
            _ = try data(fromPropertyList: plist, format: format)
            return true
        } catch {
            return false
        }
    }
}

import Foundation
import KeyedArchive

#if canImport(Darwin)
    import CCoding
#endif

/// Writes objects and values one after the other, without keys, in the format of Apple's `NSArchiver`.
///
/// Classes that adopt `NSCoding` by the methods without keys work unchanged:
///
/// ```swift
/// let data = try SequentialArchiver.archivedData(withRootObject: zoo)
/// ```
///
/// For files that older programs must read. New programs are better off with `KeyedArchiver`, whose archives survive
/// changes of a class.
///
/// An archiver is used from one thread. An error inside an object's `encode(with:)`, which cannot throw, is kept and
/// thrown at the end: the first error wins.
public final class SequentialArchiver: NSCoder {
    // Unchecked exclusivity: an archiver is used from one thread, and nothing calls out to a user's code while it
    // changes one of these.
    @exclusivity(unchecked) var writer: StreamWriter
    @exclusivity(unchecked) var graph = WrittenGraph()
    @exclusivity(unchecked) private var failure = FirstError()
    /// Whether an error was recorded: from then on nothing is coded any longer. Asked for with every value.
    @exclusivity(unchecked) private(set) var hasFailed = false
    @exclusivity(unchecked) private var nesting = NestingLimit(levels: NestingLimit.levels)
    @exclusivity(unchecked) private var handlers: [ObjectIdentifier: ObjectHandler] = [:]
    /// The handler that was asked for last: objects of a type often follow each other.
    @exclusivity(unchecked) private var lastHandler: (type: ObjectIdentifier, handler: ObjectHandler)?
    /// The objects of the root's graph that are encoded unconditionally; `nil` while that is not known.
    @exclusivity(unchecked) private var unconditional: Set<ObjectIdentifier>?
    /// Whether an object was left out because it was met conditionally only, so far.
    @exclusivity(unchecked) private var leftOut = false
    @exclusivity(unchecked) private var isInRoot = false
    @exclusivity(unchecked) private var encodedNames: [String: String] = [:]
    @exclusivity(unchecked) private var replacements: [ObjectIdentifier: (object: AnyObject, replacement: Any)] =
        [:]
    private let destination: NSMutableData?

    /// Creates an archiver.
    ///
    /// - Parameter byteOrder: the order of the bytes of numbers; readers take either.
    public init(byteOrder: TypedStream.ByteOrder = .little) {
        writer = StreamWriter(byteOrder: byteOrder, systemVersion: StreamTag.systemVersion)
        destination = nil
        super.init()
    }

    /// Creates an archiver that puts its archive into `data` at the end of each `encodeRootObject(_:)`.
    public init(forWritingWith data: NSMutableData) {
        writer = StreamWriter(byteOrder: .little, systemVersion: StreamTag.systemVersion)
        destination = data
        super.init()
    }

    /// Archives one object graph.
    ///
    /// - Throws: `ArchiveError` with code `.unsupportedType` for values that have no form in these archives and for
    ///   classes that encode with keys, `.limitExceeded` if objects nest more than 1,000 deep, `.encodingFailed` for
    ///   the errors that objects record.
    /// - Complexity: O(*n*) in the graph. Objects are asked to encode themselves twice if any is met conditionally
    ///   before it is met unconditionally.
    public static func archivedData(withRootObject object: Any) throws(ArchiveError) -> Data {
        let archiver = SequentialArchiver()
        archiver.encodeRootObject(object)
        return try archiver.encodedData
    }

    /// Archives one object graph into a file, which is replaced as a whole or not at all. Blocks on disk I/O.
    ///
    /// Foundation's `NSArchiver.archiveRootObject(_:toFile:)` returns `false` for a failure; this throws.
    ///
    /// - Throws: as ``archivedData(withRootObject:)``, and `.io` with the cause if the file cannot be written.
    public static func archiveRootObject(_ object: Any, toFile path: String) throws(ArchiveError) {
        try ArchiveFile.write(archivedData(withRootObject: object), to: path)
    }

    /// The archive of all that was encoded so far.
    ///
    /// - Throws: the first error of all that was encoded.
    public var encodedData: Data {
        get throws(ArchiveError) {
            if let error = failure.error { throw error }
            let data = Data(writer.bytes)
            destination?.setData(data)
            return data
        }
    }

    // MARK: Errors

    func record(_ error: ArchiveError) {
        failure.record(error)
        hasFailed = true
    }

    /// Records an error from inside an object's `encode(with:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.encodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`.
    public override var error: (any Error)? { failure.error }

    /// `false`: a class that knows both ways encodes without keys here.
    public override var allowsKeyedCoding: Bool { false }
    /// The version of the system that the archive names: 1,000, as every Mac writes it.
    public override var systemVersion: UInt32 { UInt32(StreamTag.systemVersion) }

    // MARK: Classes

    /// Sets the version that archives give for a class, in this process; 0 unless set.
    ///
    /// As Foundation's `setVersion(_:)`: not inherited by subclasses. A class reads it by `version(forClassName:)`.
    public static func setVersion(_ version: Int, for cls: AnyClass) { ClassVersions.set(version, for: cls) }

    /// Gives classes of a name another name in this archive.
    public func encodeClassName(_ trueName: String, intoClassName inArchiveName: String) {
        encodedNames[trueName] = inArchiveName
    }

    /// The name that classes of a name have in this archive: their own, unless another was given.
    public func classNameEncoded(forTrueClassName trueName: String) -> String { encodedNames[trueName] ?? trueName }

    /// Writes a class, and those above it that were not written yet.
    func write(class cls: AnyClass) {
        var next: AnyClass? = cls
        while let current = next {
            if let number = graph[current] { return writer.write(reference: number) }
            graph[current] = writer.beginObject()
            writer.write(shared: classNameEncoded(forTrueClassName: ArchivedClass.of(current).name))
            writer.write(integer: Int64(ClassVersions.version(of: current)))
            next = _getSuperclass(current)
        }
        writer.write(tag: StreamTag.null)
    }

    // MARK: Objects

    /// Encodes another object wherever one is met from now on.
    public func replace(_ object: Any, with newObject: Any) {
        guard type(of: object) is AnyClass else {
            return record(ArchiveError(.unsupportedType, "a value without an identity cannot be replaced"))
        }
        replacements[ObjectIdentifier(object as AnyObject)] = (object as AnyObject, newObject)
    }

    /// Writes a value as an object: nil, a reference, or an object with its class.
    func write(object: Any?) {
        guard let object else { return writer.write(tag: StreamTag.null) }
        let value = replaced(object)
        let type = type(of: value)
        // The commonest one first.
        if type == String.self, let text = exactly(value, String.self) { return write(text: text) }
        handler(of: type).encode(value, self)
    }

    /// The object that is archived in an object's place.
    @inline(__always)
    private func replaced(_ object: Any) -> Any {
        guard !replacements.isEmpty, type(of: object) is AnyClass else { return object }
        return replacements[ObjectIdentifier(object as AnyObject)]?.replacement ?? object
    }

    private func handler(of type: Any.Type) -> ObjectHandler {
        let key = ObjectIdentifier(type)
        if let lastHandler, lastHandler.type == key { return lastHandler.handler }
        let found = handlers[key] ?? ObjectHandler.for(type)
        handlers[key] = found
        lastHandler = (key, found)
        return found
    }

    /// Writes a new object, or a reference if `identity` was written before.
    @inline(__always)
    func write(_ cls: AnyClass, identity: AnyObject? = nil, _ body: () -> Void) {
        if hasFailed { return }
        if let identity, let number = graph.number(of: identity) { return writer.write(reference: number) }
        do throws(ArchiveError) {
            try nesting.enter()
        } catch {
            return record(error)
        }
        defer { nesting.leave() }
        let number = writer.beginObject()
        if let identity { graph.add(identity, number: number) }
        write(class: cls)
        body()
        writer.write(tag: StreamTag.end)
        if hasFailed { failure.locate(within: ArchivedClass.of(cls).name) }
    }

    /// Has an object of a user's class encode itself.
    func encodeFields(of object: some NSCoding) {
        #if canImport(Darwin)
            if let raised = coding_encode(object, self) {
                record(ArchiveError(.encodingFailed, raised, in: "encode(with:)", of: type(of: object)))
            }
        #else
            object.encode(with: self)
        #endif
    }

    /// Encodes an object or value; `nil` too. An error is recorded, see ``error``.
    public override func encode(_ object: Any?) {
        if hasFailed { return }
        writer.write(type: UInt8(ascii: "@"))
        write(object: object)
    }

    /// Encodes a graph of objects, in which objects may be met conditionally.
    public override func encodeRootObject(_ object: Any) {
        if hasFailed { return }
        if isInRoot { return encode(object as Any?) }
        let start = (writer, graph)
        isInRoot = true
        leftOut = false
        encode(object as Any?)
        if leftOut, !hasFailed {
            // Some may have been met unconditionally later: now it is known which.
            let first = graph
            unconditional = first.identities
            (writer, graph) = start
            encode(object as Any?)
            withExtendedLifetime(first) {}
        }
        isInRoot = false
        unconditional = nil
        if !hasFailed { destination?.setData(Data(writer.bytes)) }
    }

    /// Encodes a reference to an object that is in the archive only if something else of the root's graph encodes it
    /// unconditionally; otherwise it decodes to nil.
    ///
    /// Outside `encodeRootObject(_:)` this is recorded as `.encodingFailed`: the values that follow are not known
    /// there.
    public override func encodeConditionalObject(_ object: Any?) {
        if hasFailed { return }
        guard let object, case let value = replaced(object), type(of: value) is AnyClass else {
            return encode(object)
        }
        guard isInRoot else {
            return record(ArchiveError(.encodingFailed, "a conditional object outside encodeRootObject(_:)"))
        }
        let identity = value as AnyObject
        if graph.number(of: identity) != nil || unconditional?.contains(ObjectIdentifier(identity)) == true {
            return encode(object)
        }
        if unconditional == nil { leftOut = true }
        encode(nil as Any?)
    }

    /// Encodes an object as `encode(_:)` does: an archive always has a copy.
    public override func encodeBycopyObject(_ object: Any?) { encode(object) }
    /// Encodes an object as `encode(_:)` does: an archive always has a copy.
    public override func encodeByrefObject(_ object: Any?) { encode(object) }

    // MARK: Values

    /// Encodes a value; `type` is its C type in Objective-C's notation. Structures and arrays may hold any of these.
    ///
    /// Unions, bit fields and pointers other than to C strings are recorded as `.unsupportedType`. A selector is a
    /// pointer to its name where there is no Objective-C.
    public override func encodeValue(ofObjCType type: UnsafePointer<CChar>, at address: UnsafeRawPointer) {
        guard type[0] != 0, type[1] == 0, let single = ValueType(letter: UInt8(bitPattern: type[0])) else {
            return encode(type: CStringBytes.of(type), at: address)
        }
        if hasFailed { return }
        writer.write(type: UInt8(bitPattern: type[0]))
        do throws(ArchiveError) {
            try write(single, at: address)
        } catch {
            record(error)
        }
    }

    /// Encodes `count` values that lie side by side as one array.
    public override func encodeArray(ofObjCType type: UnsafePointer<CChar>, count: Int, at array: UnsafeRawPointer)
    {
        encode(type: Array("[\(max(0, count))\(String(cString: type))]".utf8), at: array)
    }

    /// Encodes bytes after their length.
    public override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) {
        if hasFailed { return }
        writer.write(type: UInt8(ascii: "+"))
        writer.write(unshared: UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// Encodes data as its length and its bytes; `decodeData()` reads it.
    public override func encode(_ data: Data) {
        if !hasFailed { write(dataParts: data) }
    }

    #if os(macOS) || !canImport(Darwin)
        /// Encodes strings, data, arrays and dictionaries in the old binary form of property lists, which holds
        /// nothing else; other values are recorded as `.unsupportedType`.
        public override func encodePropertyList(_ list: Any) { write(propertyList: list) }
    #else
        /// Encodes strings, data, arrays and dictionaries in the old binary form of property lists, which holds
        /// nothing else; other values are recorded as `.unsupportedType`.
        public func encodePropertyList(_ list: Any) { write(propertyList: list) }
    #endif

    private func write(propertyList list: Any) {
        do throws(ArchiveError) {
            encode(try OldPropertyList.data(list))
        } catch {
            record(error)
        }
    }

    #if os(macOS)
        public override func encode(_ point: NSPoint) { encodePoint(point) }
        public override func encode(_ size: NSSize) { encodeSize(size) }
        public override func encode(_ rect: NSRect) { encodeRect(rect) }
    #endif

    // MARK: Keys

    private func refuse(_ key: String) {
        record(
            ArchiveError(
                .unsupportedType,
                "a value under a key, where values have none: encode without keys if allowsKeyedCoding is false, "
                    + "or archive with KeyedArchiver",
                keyPath: [key]
            )
        )
    }

    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ object: Any?, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encodeConditionalObject(_ object: Any?, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Bool, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Int, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Int32, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Int64, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Float, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encode(_ value: Double, forKey key: String) { refuse(key) }
    /// Records `.unsupportedType`: these archives have no keys.
    public override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
        refuse(key)
    }
    #if canImport(Darwin)
        public override func encodeCInt(_ value: Int32, forKey key: String) { refuse(key) }
    #endif
}

/// The value in an `Any`, if it is exactly of `type`; a cast takes several times as long.
///
/// Why the cast is safe: both types are the same one.
@inline(__always)
func exactly<T>(_ value: Any, _ type: T.Type) -> T? {
    func open<Content>(_ content: Content) -> T? {
        Content.self == type ? unsafeBitCast(content, to: type) : nil
    }
    return open(value)
}

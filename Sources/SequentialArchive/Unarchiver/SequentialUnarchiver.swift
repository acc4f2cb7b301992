import Foundation
import KeyedArchive

/// Reads archives of Apple's `NSArchiver`, and those of ``SequentialArchiver``, of either byte order.
///
/// ```swift
/// let zoo = try SequentialUnarchiver.unarchivedObject(ofClass: Zoo.self, from: data)
/// ```
///
/// Values have no keys: a class must decode all that it encoded, in the same order and by the same types. An integer
/// is decoded by any integer type that holds it, a real by either type; any other type is an error that names the
/// place.
///
/// Only the classes that the caller expects, their subclasses, and strings, numbers, dates and collections are
/// instantiated; any other class in the archive is an error. Every byte is checked before it is used: bad input throws,
/// it never traps. To look into archives without their classes, use ``TypedStream``.
///
/// An error inside an object's `init(coder:)`, which cannot throw, is kept and thrown at the root: the first error
/// wins. An unarchiver is used from one thread.
public final class SequentialUnarchiver: NSCoder {
    let reader: StreamReader
    let expected: ExpectedClasses
    // Unchecked exclusivity: an unarchiver is used from one thread, and nothing calls out to a user's code while it
    // changes one of these.
    @exclusivity(unchecked) private var failure = FirstError()
    /// Whether an error was recorded: from then on nothing is coded any longer. Asked for with every value.
    @exclusivity(unchecked) private(set) var hasFailed = false
    @exclusivity(unchecked) var nesting: NestingLimit
    @exclusivity(unchecked) var entries: [StreamEntry] = []
    /// The classes among the entries, by their numbers: every object asks for its class.
    @exclusivity(unchecked) var knownClasses: [StreamClass?] = []
    /// The versions of the classes that were met, by their names in the archive.
    @exclusivity(unchecked) var versions: [String: Int] = [:]
    /// The number of the next new entry: less than the count where a part of the stream is read again.
    @exclusivity(unchecked) var nextEntry = 0
    @exclusivity(unchecked) var frame = StreamFrame(cls: nil)
    /// How many members the object that was decoded last holds, those of its members included.
    @exclusivity(unchecked) var held = 0
    let heldLimit: Int
    /// Mutable collections that are decoding their members, by their numbers.
    @exclusivity(unchecked) var openCollections: [Int: AnyObject] = [:]
    #if canImport(Darwin)
        /// Objects that are in their `initWithCoder:`, by their numbers.
        @exclusivity(unchecked) var allocated: [Int: AnyObject] = [:]
    #else
        /// Instances that stand for objects that are still being decoded.
        @exclusivity(unchecked) var placeholders: [Int: PlaceholderInstance] = [:]
    #endif
    @exclusivity(unchecked) private var classNames: [String: String] = [:]
    @exclusivity(unchecked) private var replacements: [ObjectIdentifier: (object: AnyObject, replacement: Any)] =
        [:]
    private var keptTexts: [UnsafeMutablePointer<CChar>] = []
    private var keptData: [NSMutableData] = []

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - data: the archive's bytes.
    ///   - classes: the classes that may be instantiated, with their subclasses.
    ///   - limits: how much the archive may ask for.
    /// - Throws: `ArchiveError` with code `.unknownFormat` if the bytes are not a typed stream, `.unsupportedFormat` for
    ///   another version of the format, `.limitExceeded` if there are more bytes than the limits allow.
    public init(
        forReadingWith data: Data,
        classes: [AnyClass] = [],
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) {
        reader = try StreamReader(Array(data), limits: limits)
        expected = ExpectedClasses(classes)
        nesting = NestingLimit(levels: min(limits.depth, .max - NestingLimit.leafLevels) + NestingLimit.leafLevels)
        entries.reserveCapacity(min(data.count / 32, 1 << 16))
        heldLimit = limits.heldMembers(in: data.count)
        super.init()
    }

    deinit { for text in keptTexts { text.deallocate() } }

    // MARK: Roots

    /// Unarchives one object graph.
    ///
    /// - Parameters:
    ///   - type: the class that is expected; the object may be of a subclass. Value types that are stored as
    ///     Foundation's classes (`String`, `[String]`, `Date`, …) are possible too.
    ///   - classes: further classes that may be instantiated inside the graph, with their subclasses.
    ///   - data: the archive's bytes.
    /// - Returns: the object; `nil` if nil was archived.
    /// - Throws: `ArchiveError` with code `.typeMismatch` if the root, or a value that a class asks for, is of another
    ///   type; `.missingValue` if a class asks for more than there is; `.classNotAllowed` for a class that is not
    ///   expected; `.decodingFailed` if an `init(coder:)` returns `nil`; `.cyclicReference` for a cycle that cannot be
    ///   restored; `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if the bytes are not a sound archive;
    ///   `.limitExceeded` if it is larger or nests deeper than the limits allow.
    /// - Complexity: O(*n*) in the archive's bytes.
    public static func unarchivedObject<T>(
        ofClass type: T.Type,
        allowing classes: [AnyClass] = [],
        from data: Data
    ) throws(ArchiveError) -> T? {
        guard let root = try unarchiveObject(with: data, allowing: [type as? AnyClass].compactMap(\.self) + classes)
        else { return nil }
        guard let object = root as? T else {
            throw ArchiveError(
                .typeMismatch,
                "the root is \(ClassNames.name(of: Swift.type(of: root))), not \(ClassNames.name(of: type))"
            )
        }
        return object
    }

    /// Unarchives one object graph, of any of the classes named or of Foundation's.
    ///
    /// Foundation's `NSUnarchiver.unarchiveObject(with:)` takes any class and raises an exception; this takes only
    /// the named classes, and throws.
    ///
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`.
    public static func unarchiveObject(
        with data: Data,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        let unarchiver = try SequentialUnarchiver(forReadingWith: data, classes: classes)
        let root = unarchiver.decodeObject()
        try unarchiver.finishDecoding()
        return root
    }

    /// Unarchives the object graph in a file. Blocks on disk I/O.
    ///
    /// - Throws: as `unarchivedObject(ofClass:allowing:from:)`, and `.io` with the cause if the file cannot be read.
    public static func unarchiveObject(
        withFile path: String,
        allowing classes: [AnyClass] = []
    ) throws(ArchiveError) -> Any? {
        try unarchiveObject(with: ArchiveFile.read(path), allowing: classes)
    }

    /// Ends decoding. Values that were not asked for are not an error: see ``isAtEnd``.
    ///
    /// - Throws: the first error of all that was decoded.
    public func finishDecoding() throws(ArchiveError) {
        if let error = failure.error { throw error }
    }

    /// Whether all values of the archive were decoded.
    public var isAtEnd: Bool { reader.isAtEnd && frame.types.isEmpty }

    // MARK: Errors

    func record(_ error: ArchiveError) {
        failure.record(error)
        hasFailed = true
    }

    func locate(within name: String) { failure.locate(within: name) }

    /// Records an error from inside an object's `init(coder:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.decodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`. From then on nothing is decoded any longer.
    public override var error: (any Error)? { failure.error }

    /// `false`: a class that knows both ways decodes without keys here.
    public override var allowsKeyedCoding: Bool { false }
    /// The version of the system that wrote the archive: 1,000 for every Mac.
    public override var systemVersion: UInt32 { UInt32(clamping: reader.systemVersion) }

    /// Always `.setErrorAndReturn`; setting another policy has no effect. No archive ends the process.
    public override var decodingFailurePolicy: NSCoder.DecodingFailurePolicy {
        get { .setErrorAndReturn }
        set {}
    }

    /// Runs `body`, and records its error.
    @inline(__always)
    func attempt<T>(_ body: () throws(ArchiveError) -> T?) -> T? {
        if hasFailed { return nil }
        do throws(ArchiveError) {
            let value = try body()
            return hasFailed ? nil : value
        } catch {
            record(error)
            return nil
        }
    }

    // MARK: Classes

    /// Says which name of the process a class name in this archive stands for.
    ///
    /// Which classes may be instantiated is not changed. Names are looked up once for each class: call this first.
    public func decodeClassName(_ inArchiveName: String, asClassName trueName: String) {
        classNames[inArchiveName] = trueName
    }

    /// The name that a class name in this archive stands for: itself, unless another was given.
    public func classNameDecoded(forArchiveClassName inArchiveName: String) -> String {
        classNames[inArchiveName] ?? inArchiveName
    }

    /// The version with which a class was archived: one of the classes of the object that is being decoded, or else of
    /// any that was met before.
    ///
    /// - Parameter className: the class's name in this process.
    /// - Returns: `NSNotFound` if there is no such class in the archive.
    public override func version(forClassName className: String) -> Int {
        var next = frame.cls
        while let current = next {
            if classNameDecoded(forArchiveClassName: current.name) == className { return current.version }
            next = current.superclass
        }
        if classNames[className] == nil, let version = versions[className] { return version }
        for (inArchive, trueName) in classNames where trueName == className {
            if let version = versions[inArchive] { return version }
        }
        return NSNotFound
    }

    /// Decodes another object wherever a reference to an object that was decoded is met from now on.
    public func replace(_ object: Any, with newObject: Any) {
        guard type(of: object) is AnyClass else { return }
        replacements[ObjectIdentifier(object as AnyObject)] = (object as AnyObject, newObject)
    }

    func replacement(of object: Any) -> Any {
        if replacements.isEmpty || !(type(of: object) is AnyClass) { return object }
        return replacements[ObjectIdentifier(object as AnyObject)]?.replacement ?? object
    }

    // MARK: Values

    /// The next object or value; `nil` for nil and after an error.
    public override func decodeObject() -> Any? {
        attempt { () throws(ArchiveError) in try nextObject() }
    }

    /// The next data, as `encode(_:)` of an archiver wrote it; `nil` after an error.
    public override func decodeData() -> Data? {
        attempt { () throws(ArchiveError) in try nextData() }
    }

    #if os(macOS) || !canImport(Darwin)
        /// The next property list of the old binary form, as `String`, `Data`, `[Any]` and `[String: Any]`.
        public override func decodePropertyList() -> Any? { nextPropertyList() }
    #else
        /// The next property list of the old binary form, as `String`, `Data`, `[Any]` and `[String: Any]`.
        public func decodePropertyList() -> Any? { nextPropertyList() }
    #endif

    private func nextPropertyList() -> Any? {
        attempt { () throws(ArchiveError) in
            let start = reader.position
            do throws(ArchiveError) {
                return try OldPropertyList.value(try nextData())
            } catch {
                throw ArchiveError(error.code, error.message, offset: error.offset ?? start)
            }
        }
    }

    /// Decodes the next value into memory of a C type. Leaves the memory alone after an error.
    ///
    /// An object arrives retained. A C string, and a selector where there is no Objective-C, lives as long as this
    /// unarchiver. An integer that does not fit is recorded as `.outOfRange`, a value of another kind as
    /// `.typeMismatch`.
    public override func decodeValue(ofObjCType type: UnsafePointer<CChar>, at data: UnsafeMutableRawPointer) {
        _ = attempt { () throws(ArchiveError) -> Void? in try decode(ValueType.of(type), at: data) }
    }

    /// Decodes several values into memory of their C types, be they one group or many.
    ///
    /// Leaves the memory of the first that fails, and of those after it, alone.
    ///
    /// - Parameters:
    ///   - types: the C types one after the other, such as `i@f`.
    ///   - addresses: the place for each value; as many as there are types.
    public func decodeValues(ofObjCTypes types: String, at addresses: [UnsafeMutableRawPointer]) {
        _ = attempt { () throws(ArchiveError) -> Void? in
            let list = try ValueType.list(Array(types.utf8))
            precondition(list.count == addresses.count, "\(addresses.count) addresses for the types \(types)")
            for (type, address) in zip(list, addresses) { try decode(type, at: address) }
            return ()
        }
    }

    /// Decodes an array of `count` values into memory.
    public override func decodeArray(
        ofObjCType itemType: UnsafePointer<CChar>,
        count: Int,
        at array: UnsafeMutableRawPointer
    ) {
        _ = attempt { () throws(ArchiveError) -> Void? in
            try decode(.array(count: count, of: ValueType.of(itemType)), at: array)
        }
    }

    #if canImport(Darwin)
        /// The bytes of the next value, which live as long as this unarchiver; `nil` for nil and after an error.
        public override func decodeBytes(
            withReturnedLength count: UnsafeMutablePointer<Int>
        ) -> UnsafeMutableRawPointer? {
            nextBytes(count)
        }
    #else
        /// The bytes of the next value, which live as long as this unarchiver; `nil` for nil and after an error.
        public func decodeBytes(withReturnedLength count: UnsafeMutablePointer<Int>) -> UnsafeMutableRawPointer? {
            nextBytes(count)
        }
    #endif

    private func nextBytes(_ count: UnsafeMutablePointer<Int>) -> UnsafeMutableRawPointer? {
        let data = attempt { () throws(ArchiveError) in try nextBytes() }
        count.pointee = data?.count ?? 0
        // One byte more: memory of no bytes need not have an address.
        guard let data, let kept = NSMutableData(length: data.count + 1) else { return nil }
        UnsafeMutableRawBufferPointer(start: kept.mutableBytes, count: data.count).copyBytes(from: data)
        keptData.append(kept)
        return kept.mutableBytes
    }

    /// Keeps a text alive as long as this unarchiver, with a zero at its end.
    func keep(_ text: [UInt8]) -> UnsafeMutablePointer<CChar> {
        let kept = UnsafeMutablePointer<CChar>.allocate(capacity: text.count + 1)
        for (index, byte) in text.enumerated() { (kept + index).initialize(to: CChar(bitPattern: byte)) }
        (kept + text.count).initialize(to: 0)
        keptTexts.append(kept)
        return kept
    }

    #if os(macOS)
        public override func decodePoint() -> NSPoint { decodePointValue() }
        public override func decodeSize() -> NSSize { decodeSizeValue() }
        public override func decodeRect() -> NSRect { decodeRectValue() }
    #endif

    // MARK: Keys

    private func refuse<T>(_ key: String, _ value: T) -> T {
        record(
            ArchiveError(
                .unsupportedType,
                "a value is expected under a key, and the archive has no keys: decode without keys if allowsKeyedCoding "
                    + "is false",
                offset: reader.position,
                keyPath: [key]
            )
        )
        return value
    }

    /// Records `.unsupportedType`: these archives have no keys. Returns `false`.
    public override func containsValue(forKey key: String) -> Bool { refuse(key, false) }
    /// Records `.unsupportedType`: these archives have no keys. Returns `nil`.
    public override func decodeObject(forKey key: String) -> Any? { refuse(key, nil) }
    /// Records `.unsupportedType`: these archives have no keys. Returns `false`.
    public override func decodeBool(forKey key: String) -> Bool { refuse(key, false) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeInteger(forKey key: String) -> Int { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeInt32(forKey key: String) -> Int32 { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeInt64(forKey key: String) -> Int64 { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeFloat(forKey key: String) -> Float { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeDouble(forKey key: String) -> Double { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns 0.
    public override func decodeCInt(forKey key: String) -> Int32 { refuse(key, 0) }
    /// Records `.unsupportedType`: these archives have no keys. Returns `nil`.
    public override func decodePropertyList(forKey key: String) -> Any? { refuse(key, nil) }

    #if canImport(Darwin)
        public override func decodeBytes(
            forKey key: String,
            returnedLength count: UnsafeMutablePointer<Int>?
        ) -> UnsafePointer<UInt8>? {
            count?.pointee = 0
            return refuse(key, nil)
        }

        public override func __decodeObject(ofClasses classes: Set<AnyHashable>?, forKey key: String) -> Any? {
            refuse(key, nil)
        }
    #else
        /// Records `.unsupportedType`: these archives have no keys. Returns `nil`.
        public override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? { refuse(key, nil) }

        /// Records `.unsupportedType`: these archives have no keys. Returns `nil`.
        public override func decodeObject<T: NSObject & NSCoding>(of cls: T.Type, forKey key: String) -> T? {
            refuse(key, nil)
        }

        /// Records `.unsupportedType`: these archives have no keys. Calls `body` with `nil`.
        public override func withDecodedUnsafeBufferPointer<Result>(
            forKey key: String,
            body: (UnsafeBufferPointer<UInt8>?) throws -> Result
        ) rethrows -> Result {
            try body(refuse(key, nil))
        }

        /// Records `.unsupportedType`: these archives have no keys. Calls `body` with `nil`.
        public override func withDecodedUnsafeBytes<Result>(
            forKey key: String,
            body: (UnsafeRawBufferPointer?) throws -> Result
        ) rethrows -> Result {
            try body(refuse(key, nil))
        }
    #endif
}

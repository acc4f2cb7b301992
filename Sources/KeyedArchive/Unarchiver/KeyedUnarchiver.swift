import Foundation

/// Reads keyed archives, those of Apple's `NSKeyedArchiver` in binary format included.
///
/// ```swift
/// let zoo = try KeyedUnarchiver.unarchivedObject(ofClass: Zoo.self, from: data)
/// ```
///
/// Only the classes that the caller expects, their subclasses, and strings, numbers, dates and collections are
/// instantiated; any other class in the archive is an error. Bytes are checked before they are used, whoever
/// wrote them: bad input throws, it never traps.
///
/// What goes wrong inside an object's `init(coder:)`, which cannot throw, is kept and thrown at the root: the
/// first error wins. A missing key gives `nil`, 0 or `false` and is no error.
///
/// An unarchiver is used from one thread. Nothing is decoded that is not asked for.
public final class KeyedUnarchiver: NSCoder {
    let source: ArchiveSource

    // Unchecked exclusivity: an unarchiver is used from one thread, and nothing calls out to a user's code while
    // it changes one of these. The checks cost 10 % of a small archive.
    @exclusivity(unchecked) private var failure: ArchiveError?
    /// The object that is being decoded.
    @exclusivity(unchecked) var scope: ArchiveScope
    /// The classes that may be instantiated just now; the innermost `decodeObject(of:)` decides.
    @exclusivity(unchecked) var expected: ExpectedClasses
    @exclusivity(unchecked) var objects = DecodedObjects()
    @exclusivity(unchecked) var classes = ClassCache()
    /// The string object that the key `$class` was found to be.
    @exclusivity(unchecked) var classKey: BinaryPropertyList.Reference?
    @exclusivity(unchecked) var depth = 0
    @exclusivity(unchecked) var nesting = NestingLimit()
    /// Whether the class of a Codable root was compared with its type.
    @exclusivity(unchecked) var rootIsChecked = false
    @exclusivity(unchecked) private var budget: Int
    /// How much the members hold that were decoded so far of the innermost collection, each counted as often as
    /// it is a member.
    @exclusivity(unchecked) var heldSize = 0
    /// How much a collection may hold.
    let sizeLimit: Int

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - data: the archive's bytes.
    ///   - classes: the classes that may be instantiated, with their subclasses.
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if it is no binary keyed archive,
    ///   `.unsupportedFormat` for versions that are not known, `.corrupted` if its bytes are damaged.
    public convenience init(
        forReadingFrom data: Data,
        classes: [AnyClass] = []
    ) throws(ArchiveError) {
        try self.init(data.withUnsafeBytes { Array($0) }, classes: classes)
    }

    package init(_ bytes: [UInt8], classes: [AnyClass]) throws(ArchiveError) {
        source = try ArchiveSource(bytes)
        scope = ArchiveScope(source.top)
        expected = ExpectedClasses(classes, intrinsicsToo: true)
        // Generous for every real archive, and an end to those that refer to the same parts over and over.
        budget = 1 << 20 + 64 * bytes.count
        // A cast to NSArray takes a microsecond and 100 bytes for each member, counted so.
        sizeLimit = 1 << 17 + 16 * bytes.count
        super.init()
    }

    /// Unarchives the object under the key `root`.
    ///
    /// - Parameters:
    ///   - type: the class that is expected; the object may be of a subclass. Value types that are stored as
    ///     property-list objects (`String`, `[String]`, `Date`, …) are possible too.
    ///   - classes: further classes that may be instantiated inside the graph, with their subclasses.
    ///   - data: the archive's bytes.
    /// - Throws: ``ArchiveError`` with code `.typeMismatch` if the root is of another type, `.missingValue` if
    ///   there is no root, `.classNotAllowed` for a class that is not expected, `.decodingFailed` if the
    ///   object's `init(coder:)` returned `nil`, `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if the
    ///   bytes are no sound archive, `.limitExceeded` if it nests more than 1,000 deep.
    /// - Complexity: O(*n*) in the objects that are decoded.
    public static func unarchivedObject<T>(
        ofClass type: T.Type,
        allowing classes: [AnyClass] = [],
        from data: Data
    ) throws(ArchiveError) -> T {
        try unarchive(type, allowing: classes, from: data.withUnsafeBytes { Array($0) })
    }

    package static func unarchive<T>(
        _ type: T.Type,
        allowing classes: [AnyClass] = [],
        from bytes: [UInt8]
    ) throws(ArchiveError) -> T {
        var expected = classes
        if let root = type as? AnyClass { expected.insert(root, at: 0) }
        let unarchiver = try KeyedUnarchiver(bytes, classes: expected)
        let object = unarchiver.decodeObject(forKey: KeyedArchiver.rootKey)
        if let failure = unarchiver.failure { throw failure }
        guard let object else {
            guard unarchiver.containsValue(forKey: KeyedArchiver.rootKey) else {
                throw ArchiveError(.missingValue, "the archive has no root object")
            }
            throw ArchiveError(.decodingFailed, "\(ClassNames.name(of: T.self)) refused to be decoded")
        }
        guard let typed = object as? T else {
            throw ArchiveError(
                .typeMismatch,
                "the root is \(ClassNames.name(of: Swift.type(of: object))), not \(ClassNames.name(of: T.self))"
            )
        }
        return typed
    }

    // MARK: Errors

    var hasFailed: Bool { failure != nil }

    func record(_ error: ArchiveError) {
        if failure == nil { failure = error }
    }

    /// Names the key under which an error came up, from the inside out.
    private func locate(_ key: String) {
        if let found = failure { failure = found.within(key) }
    }

    /// Records an error from inside an object's `init(coder:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.decodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`.
    public override var error: (any Error)? { failure }

    public override var allowsKeyedCoding: Bool { true }
    public override var requiresSecureCoding: Bool { false }
    public override var decodingFailurePolicy: NSCoder.DecodingFailurePolicy { .setErrorAndReturn }
    /// Ends decoding.
    ///
    /// - Throws: the first error of all that was decoded.
    public func finishDecoding() throws(ArchiveError) {
        if let failure { throw failure }
    }

    /// Counts work and memory against what the archive's size can justify.
    func spend(_ units: Int) throws(ArchiveError) {
        budget -= units
        if budget < 0 { throw tooMuch }
    }

    /// Checks that the innermost collection does not hold too much.
    ///
    /// Collections that share their parts take little memory as long as they are left alone. But to cast,
    /// compare or archive them takes as much work as if nothing were shared, and that may be without end.
    func checkHeldSize() throws(ArchiveError) {
        if heldSize > sizeLimit { throw tooMuch }
    }

    private var tooMuch: ArchiveError {
        ArchiveError(.limitExceeded, "the archive holds far more than its size can justify")
    }

    /// Runs `body`, and records its error.
    func attempt<T>(_ key: String?, _ body: () throws(ArchiveError) -> T?) -> T? {
        if failure != nil { return nil }
        do throws(ArchiveError) {
            let value = try body()
            // An object inside may have recorded an error without throwing.
            if failure != nil, let key { locate(key) }
            return failure == nil ? value : nil
        } catch {
            record(key.map { error.within($0) } ?? error)
            return nil
        }
    }

    // MARK: Values

    /// The property-list object under a key of the innermost scope, or `nil`.
    func value(of key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        try scope.value(of: key, in: source.list)
    }

    public override func containsValue(forKey key: String) -> Bool {
        attempt(key) { () throws(ArchiveError) in try value(of: key) } != nil
    }

    /// The object under a key, or `nil` if there is none or it is nil.
    ///
    /// Numbers and Booleans cast to every type that holds them exactly, and to `NSNumber`. Strings, data, dates,
    /// URLs, UUIDs and immutable collections are Swift values, which cast to their Foundation classes.
    public override func decodeObject(forKey key: String) -> Any? {
        attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key) else { return nil }
            return try object(at: reference)
        }
    }

    #if canImport(Darwin)
        // The methods that take classes end here.
        public override func __decodeObject(ofClasses classes: Set<AnyHashable>?, forKey key: String) -> Any? {
            decodeObject(amongClasses: classes?.compactMap { $0.base as? AnyClass }, forKey: key)
        }
    #else
        public override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
            decodeObject(amongClasses: classes, forKey: key)
        }

        public override func decodeObject<T: NSObject & NSCoding>(of cls: T.Type, forKey key: String) -> T? {
            decodeObject(of: [cls], forKey: key) as? T
        }

        public override var allowedClasses: [AnyClass]? { expected.classes }
    #endif

    private func decodeObject(amongClasses classes: [AnyClass]?, forKey key: String) -> Any? {
        guard let classes else { return decodeObject(forKey: key) }
        let outer = expected
        expected = ExpectedClasses(classes, intrinsicsToo: false)
        defer { expected = outer }
        return attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key), let object = try object(at: reference) else { return nil }
            guard expected.allows(object) else {
                throw ArchiveError(
                    .typeMismatch,
                    "\(ClassNames.name(of: type(of: object))) is none of the classes asked for"
                )
            }
            return object
        }
    }

    // MARK: Scalars

    public override func decodeBool(forKey key: String) -> Bool { number(key, false, \.bool) }
    public override func decodeInteger(forKey key: String) -> Int { number(key, 0) { $0.integer(Int.self) } }
    public override func decodeInt32(forKey key: String) -> Int32 { number(key, 0) { $0.integer(Int32.self) } }
    public override func decodeInt64(forKey key: String) -> Int64 { number(key, 0) { $0.integer(Int64.self) } }
    public override func decodeFloat(forKey key: String) -> Float { number(key, 0, \.float) }
    public override func decodeDouble(forKey key: String) -> Double { number(key, 0, \.double) }

    #if !canImport(Darwin)
        public override func decodeCInt(forKey key: String) -> Int32 { decodeInt32(forKey: key) }

        public override func withDecodedUnsafeBufferPointer<Result>(
            forKey key: String,
            body: (UnsafeBufferPointer<UInt8>?) throws -> Result
        ) rethrows -> Result {
            guard let range = bytes(of: key) else { return try body(nil) }
            return try source.list.bytes.withUnsafeBufferPointer {
                try body(UnsafeBufferPointer(rebasing: $0[range]))
            }
        }

        public override func withDecodedUnsafeBytes<Result>(
            forKey key: String,
            body: (UnsafeRawBufferPointer?) throws -> Result
        ) rethrows -> Result {
            guard let range = bytes(of: key) else { return try body(nil) }
            return try source.list.bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    #endif

    /// Where the bytes of a key's data stand, or `nil`.
    private func bytes(of key: String) -> Range<Int>? {
        attempt(key) { () throws(ArchiveError) in
            guard let reference = try value(of: key), let target = try resolve(reference) else { return nil }
            guard case .data(let range) = try source.list.object(target) else {
                throw ArchiveError(
                    .typeMismatch,
                    "no data, where bytes are asked for",
                    offset: try source.list.offset(of: target)
                )
            }
            return range
        }
    }

    // MARK: Unkeyed values

    private func nextUnkeyed<T>(
        _ body: (BinaryPropertyList.Reference) throws(ArchiveError) -> T?
    ) -> T? {
        attempt(nil) { () throws(ArchiveError) in
            guard let reference = try scope.nextUnkeyed(in: source.list) else { return nil }
            return try body(reference)
        }
    }

    public override func decodeObject() -> Any? {
        nextUnkeyed { reference throws(ArchiveError) in try object(at: reference) }
    }

    public override func decodeData() -> Data? { decodeObject() as? Data }
    public override func decodePropertyList() -> Any? { decodeObject() }
    public override func decodePropertyList(forKey key: String) -> Any? { decodeObject(forKey: key) }

    public override func decodeValue(
        ofObjCType type: UnsafePointer<CChar>,
        at data: UnsafeMutableRawPointer
    ) {
        failWithError(Self.rawValues)
    }

    public override func decodeArray(
        ofObjCType itemType: UnsafePointer<CChar>,
        count: Int,
        at array: UnsafeMutableRawPointer
    ) {
        failWithError(Self.rawValues)
    }

    public override func version(forClassName className: String) -> Int { NSNotFound }

    private static let rawValues = ArchiveError(
        .unsupportedType,
        "values by Objective-C type are not unarchived: use the methods with a key"
    )
}

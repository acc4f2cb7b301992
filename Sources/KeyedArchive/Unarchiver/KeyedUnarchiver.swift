import Foundation

/// Reads keyed archives, those of Apple's `NSKeyedArchiver` included, as binary or XML property lists.
///
/// ```swift
/// let zoo = try KeyedUnarchiver.unarchivedObject(ofClass: Zoo.self, from: data)
/// ```
///
/// Only the classes that the caller expects, their subclasses, and strings, numbers, dates and collections are
/// instantiated; any other class in the archive is an error. The bytes of every archive are checked before they are
/// used: bad input throws, it never traps.
///
/// An error inside an object's `init(coder:)`, which cannot throw, is kept and thrown at the root: the first error
/// wins. A missing key gives `nil`, 0 or `false` and is not an error.
///
/// An unarchiver is used from one thread. Nothing is decoded that is not asked for.
public final class KeyedUnarchiver: NSCoder {
    /// Borrows the bytes of `memory`, which is given back when this unarchiver is freed, or of `origin`.
    @exclusivity(unchecked) private(set) var source: ArchiveSource
    let memory: UnarchiverMemory
    @exclusivity(unchecked) private var origin: XMLOrigin?
    // Parts of `memory`, held here too: through `memory`, each use would count references to them.
    let classes: ClassResolver
    let budget: DecodingBudget

    // Unchecked exclusivity: an unarchiver is used from one thread, and nothing calls out to a user's code while
    // it changes one of these. The checks cost 10 % of a small archive.
    @exclusivity(unchecked) private var failure = FirstError()
    @exclusivity(unchecked) var nesting: NestingLimit
    /// The object that is being decoded.
    @exclusivity(unchecked) var frame: DecodingFrame
    /// Objects that were referred to before they were complete, and references that wait until all are.
    @exclusivity(unchecked) var cycles = CyclicReferences()
    /// How far the class of a Codable root was compared with its type.
    @exclusivity(unchecked) var codableRoot = CodableRoot()
    /// The plan that the archive of a Codable root follows, if there is one.
    @exclusivity(unchecked) private(set) var plan: ArchivePlan?
    /// The number of the plan's container that is expected next.
    @exclusivity(unchecked) var nextContainer = 0
    /// Notes the decoding of a Codable root for a new plan; `nil` if it is not noted.
    @exclusivity(unchecked) var recorder: PlanRecorder?
    /// Bytes whose addresses callers have.
    @exclusivity(unchecked) var keptBytes: [NSMutableData] = []

    /// Whether there is a delegate to ask about every object.
    @exclusivity(unchecked) private(set) var asksDelegate = false

    /// The delegate, which may look at and replace every object, and finds classes; not kept alive.
    public weak var delegate: (any KeyedUnarchiverDelegate)? {
        didSet { asksDelegate = delegate != nil }
    }

    /// Whether any class that adopts `NSCoding` may be instantiated, expected or not. `false` by default.
    ///
    /// Unsafe with archives that another party may have written or changed: they choose which of the process's
    /// classes run their `init(coder:)`, and with which values.
    public var allowsAnyClass: Bool {
        get { classes.policy.allowsAnyClass }
        set { classes.policy.allowsAnyClass = newValue }
    }

    /// Whether an object of an unknown class is decoded as an instance of the nearest superclass that is known and
    /// expected. `false` by default: the fields that the unknown class adds would be lost without an error.
    public var substitutesSuperclasses: Bool {
        get { classes.policy.substitutesSuperclasses }
        set { classes.policy.substitutesSuperclasses = newValue }
    }

    /// Whether objects of unexpected classes are decoded as ``ArchivedObject``, which can be inspected and archived
    /// again. `false` by default: such an object is an error.
    ///
    /// Nothing of such a class is instantiated, even if the process has it. A class that decodes its part of a circle
    /// through such an object may find that some of its fields are not decoded yet.
    public var keepsUnknownClasses: Bool {
        get { classes.policy.keepsUnknownClasses }
        set { classes.policy.keepsUnknownClasses = newValue }
    }

    /// Opens an archive.
    ///
    /// - Parameters:
    ///   - data: the archive's bytes.
    ///   - classes: the classes that may be instantiated, with their subclasses.
    ///   - limits: how much the archive may ask for.
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if it is not a keyed archive,
    ///   `.unsupportedFormat` for versions that are not known, `.corrupted` if its bytes are damaged, `.limitExceeded` if
    ///   it is larger than the limits say, or is XML that nests too deep.
    /// - Complexity: O(*n*) in the bytes.
    public convenience init(
        forReadingFrom data: Data,
        classes: [AnyClass] = [],
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) {
        guard data.count <= limits.byteCount else {
            throw ArchiveError(.limitExceeded, "an archive of more than \(limits.byteCount) bytes")
        }
        try self.init(UnarchiverMemoryPool.take(copying: data), classes: classes, limits: limits)
    }

    package convenience init(_ bytes: [UInt8], classes: [AnyClass]) throws(ArchiveError) {
        try self.init(UnarchiverMemoryPool.take(copying: bytes), classes: classes)
    }

    /// - Parameters:
    ///   - memory: memory that holds an archive's bytes.
    ///   - root: one more class that may be instantiated.
    convenience init(
        _ memory: UnarchiverMemory,
        root: AnyClass? = nil,
        classes: [AnyClass] = [],
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) {
        try self.init(memory, memory.open(), limits: limits)
        self.classes.expect(root, classes)
    }

    /// - Parameters:
    ///   - memory: memory that holds an archive's bytes.
    ///   - type: the Codable type that is decoded.
    convenience init(_ memory: UnarchiverMemory, decoding type: Any.Type, limits: ArchiveLimits)
        throws(ArchiveError)
    {
        var isNoted = false
        let (archive, plan) = try memory.open(for: type, isNoted: &isNoted)
        try self.init(memory, archive, plan: plan, limits: limits)
        if isNoted { recorder = PlanRecorder() }
        classes.expect(nil, [])
    }

    /// Opens the archive that the memory holds now, after another one. Nothing else may refer to this unarchiver, and it
    /// must be ``isClean``.
    func reopen(decoding type: Any.Type, limits: ArchiveLimits) throws(ArchiveError) {
        var isNoted = false
        let (archive, plan) = try memory.open(for: type, isNoted: &isNoted)
        (source, origin) = (archive.source, archive.origin)
        self.plan = plan
        if isNoted { recorder = PlanRecorder() }
        frame = DecodingFrame(source.top, place: nil, depth: 0)
        try begin(limits)
    }

    /// Forgets the archive but for its bytes. Then another one can be opened, if this is ``isClean``.
    func close() {
        memory.reset()
        codableRoot = CodableRoot()
        nextContainer = 0
        recorder = nil
        nesting.leave(downTo: 0)
    }

    /// Whether decoding has left nothing that another archive could meet.
    var isClean: Bool { !failure.isSet && cycles.isUnused && keptBytes.isEmpty && !asksDelegate }

    private init(
        _ memory: UnarchiverMemory,
        _ archive: OpenedArchive,
        plan: ArchivePlan? = nil,
        limits: ArchiveLimits
    ) throws(ArchiveError) {
        (source, origin) = (archive.source, archive.origin)
        self.plan = plan
        frame = DecodingFrame(source.top, place: nil, depth: 0)
        nesting = NestingLimit(
            levels: min(limits.depth, .max - NestingLimit.leafLevels) + NestingLimit.leafLevels
        )
        self.classes = memory.classes
        budget = memory.budget
        self.memory = memory
        super.init()
        try begin(limits)
    }

    private func begin(_ limits: ArchiveLimits) throws(ArchiveError) {
        let byteCount = source.list.bytes.count
        guard source.objects.count <= limits.objectCount else {
            throw ArchiveError(.limitExceeded, "an archive of more than \(limits.objectCount) objects")
        }
        budget.grant(limits, byteCount: byteCount)
        memory.objects.open(placeCount: source.objects.count, memberLimit: limits.heldMembers(in: byteCount))
    }

    deinit { UnarchiverMemoryPool.giveBack(memory) }

    /// The objects that are decoded, or are being decoded.
    var objects: ObjectTable {
        @inline(__always) _read { yield memory.objects }
        @inline(__always) _modify { yield &memory.objects }
    }

    // MARK: Errors

    var hasFailed: Bool { failure.isSet }

    func record(_ error: ArchiveError) { failure.record(located(error)) }

    /// An error that is about the archive, with its offset in the archive as it came.
    func located(_ error: ArchiveError) -> ArchiveError {
        OpenedArchive(source: source, origin: origin).located(error)
    }

    /// Records an error from inside an object's `init(coder:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.decodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`.
    public override var error: (any Error)? { failure.error }

    /// `true`: values have keys.
    public override var allowsKeyedCoding: Bool { true }
    /// Always 2,000, as for Foundation's keyed unarchivers.
    public override var systemVersion: UInt32 { 2_000 }

    /// Whether classes must adopt `NSSecureCoding` too. `false` by default; which classes may be instantiated is
    /// limited in any case.
    public override var requiresSecureCoding: Bool {
        get { classes.policy.requiresSecureCoding }
        set { classes.policy.requiresSecureCoding = newValue }
    }

    /// Always `.setErrorAndReturn`; setting another policy has no effect. No archive ends the process.
    public override var decodingFailurePolicy: NSCoder.DecodingFailurePolicy {
        get { .setErrorAndReturn }
        set {}
    }

    /// Ends decoding.
    ///
    /// - Throws: the first error of all that was decoded.
    public func finishDecoding() throws(ArchiveError) {
        delegate?.unarchiverWillFinish(self)
        if let error = failure.error { throw error }
        delegate?.unarchiverDidFinish(self)
    }

    /// Runs `body`, and records its error.
    func attempt<T>(_ key: String?, _ body: () throws(ArchiveError) -> T?) -> T? {
        if hasFailed { return nil }
        do throws(ArchiveError) {
            let value = try body()
            if !hasFailed { return value }
        } catch {
            record(error)
        }
        // An object inside may have recorded an error, thrown or not.
        if let key { failure.locate(within: key) }
        return nil
    }

    // MARK: Values

    /// The property-list object under a key of the innermost scope, or `nil`.
    func value(of key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        try frame.scope.value(of: key, in: source.list, &memory.keyOrder)
    }

    /// Whether the object that is being decoded has a value under a key, nil included.
    public override func containsValue(forKey key: String) -> Bool {
        attempt(key) { () throws(ArchiveError) in try value(of: key) } != nil
    }

    /// The object under a key, or `nil` if there is none or it is nil.
    ///
    /// Numbers and Booleans cast to every type that holds them exactly, and to `NSNumber`. Strings, data, dates,
    /// URLs, UUIDs and immutable collections are Swift values, which cast to their Foundation classes.
    public override func decodeObject(forKey key: String) -> Any? {
        // As `attempt`, but the object is not copied on its way.
        if hasFailed { return nil }
        let object: Any?
        do throws(ArchiveError) {
            if let reference = try value(of: key) {
                object = try self.object(at: reference)
            } else {
                object = nil
            }
        } catch {
            record(error)
            object = nil
        }
        if hasFailed { failure.locate(within: key) }
        if cycles.isWaiting { deliverReferences() }
        if hasFailed { return nil }
        return object
    }

    #if canImport(Darwin)
        // The methods that take classes end here.
        public override func __decodeObject(ofClasses classes: Set<AnyHashable>?, forKey key: String) -> Any? {
            decodeObject(amongClasses: classes.map(Self.classes(in:)), forKey: key)
        }

        public override func __decodeArrayOfObjects(
            ofClasses classes: Set<AnyHashable>,
            forKey key: String
        ) -> [Any]? {
            array(amongClasses: Self.classes(in: classes), forKey: key)
        }

        public override func __decodeDictionary(
            withKeysOfClasses keyTypes: Set<AnyHashable>,
            objectsOfClasses valueTypes: Set<AnyHashable>,
            forKey key: String
        ) -> [AnyHashable: Any]? {
            dictionary(amongClasses: Self.classes(in: keyTypes) + Self.classes(in: valueTypes), forKey: key)
        }

        private static func classes(in set: Set<AnyHashable>) -> [AnyClass] {
            set.compactMap { $0.base as? AnyClass }
        }

        public override var allowedClasses: Set<AnyHashable>? {
            // A class is an object there, and an `NSObject` if its instances are.
            let expected = classes.expected.classes
            return Set(expected.compactMap { ($0 as AnyObject) as? NSObject }.map { AnyHashable($0) })
        }
    #else
        /// The object under a key; `nil` if there is none. It must be of one of the classes; members of collections
        /// may also be of the classes of property lists. Any other object is recorded as `.typeMismatch` or
        /// `.classNotAllowed`.
        public override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
            decodeObject(amongClasses: classes, forKey: key)
        }

        /// The object of a class under a key; `nil` if there is none. As `decodeObject(of:forKey:)` with one class.
        public override func decodeObject<T: NSObject & NSCoding>(of cls: T.Type, forKey key: String) -> T? {
            decodeObject(of: [cls], forKey: key) as? T
        }

        /// The classes that the object being decoded may be of: those that the caller expects.
        public override var allowedClasses: [AnyClass]? { classes.expected.classes }
    #endif

    func decodeObject(amongClasses classes: [AnyClass]?, forKey key: String) -> Any? {
        guard let classes else { return decodeObject(forKey: key) }
        return expecting(ExpectedClasses(classes), allowsFoundationValues: false) {
            let object: Any? = attempt(key) { () throws(ArchiveError) -> Any? in
                guard let reference = try value(of: key) else { return nil }
                return try expectedObject(at: reference)
            }
            if cycles.isWaiting { deliverReferences() }
            return hasFailed ? nil : object
        }
    }

    // MARK: Scalars

    /// The Boolean under a key; `false` if there is none. Another kind of value is recorded as an error.
    public override func decodeBool(forKey key: String) -> Bool { number(key, or: false, \.bool) }
    /// The integer under a key; 0 if there is none. A number that does not fit is recorded as `.outOfRange`.
    public override func decodeInteger(forKey key: String) -> Int { number(key, or: 0) { $0.integer(Int.self) } }
    /// The integer under a key; 0 if there is none. A number that does not fit is recorded as `.outOfRange`.
    public override func decodeInt32(forKey key: String) -> Int32 { number(key, or: 0) { $0.integer(Int32.self) } }
    /// The integer under a key; 0 if there is none. A number that does not fit is recorded as `.outOfRange`.
    public override func decodeInt64(forKey key: String) -> Int64 { number(key, or: 0) { $0.integer(Int64.self) } }
    /// The real number under a key; 0 if there is none. A number that does not fit is recorded as `.outOfRange`.
    public override func decodeFloat(forKey key: String) -> Float { number(key, or: 0, \.float) }
    /// The real number under a key; 0 if there is none.
    public override func decodeDouble(forKey key: String) -> Double { number(key, or: 0, \.double) }

    /// As `decodeInt32(forKey:)`.
    public override func decodeCInt(forKey key: String) -> Int32 { decodeInt32(forKey: key) }

    // The language wants overrides here; the rest about bytes stands in `KeyedUnarchiver+Bytes.swift`.
    #if canImport(Darwin)
        public override func decodeBytes(
            forKey key: String,
            returnedLength count: UnsafeMutablePointer<Int>?
        ) -> UnsafePointer<UInt8>? {
            lastingBytes(forKey: key, count)
        }

        public override func decodeBytes(
            withReturnedLength count: UnsafeMutablePointer<Int>
        ) -> UnsafeMutableRawPointer? {
            nextBytes(count)
        }
    #else
        /// Calls `body` with the bytes of the data under a key, which live as long as the call; with `nil` if there is none.
        public override func withDecodedUnsafeBufferPointer<Result>(
            forKey key: String,
            body: (UnsafeBufferPointer<UInt8>?) throws -> Result
        ) rethrows -> Result {
            try withBytes(forKey: key, body)
        }

        /// Calls `body` with the bytes of the data under a key, which live as long as the call; with `nil` if there is none.
        public override func withDecodedUnsafeBytes<Result>(
            forKey key: String,
            body: (UnsafeRawBufferPointer?) throws -> Result
        ) rethrows -> Result {
            try withBytes(forKey: key) { try body($0.map { UnsafeRawBufferPointer($0) }) }
        }
    #endif

    // MARK: Unkeyed values

    func nextUnkeyed<T>(
        _ body: (BinaryPropertyList.Reference) throws(ArchiveError) -> T?
    ) -> T? {
        attempt(nil) { () throws(ArchiveError) in
            guard let reference = try frame.scope.nextUnkeyed(in: source.list) else { return nil }
            return try body(reference)
        }
    }

    /// The next object or value that was encoded without a key; `nil` if it is nil or there is none.
    public override func decodeObject() -> Any? {
        let object: Any? = nextUnkeyed { reference throws(ArchiveError) in try self.object(at: reference) }
        if cycles.isWaiting { deliverReferences() }
        return hasFailed ? nil : object
    }

    /// The next data that was encoded without a key; `nil` if the next value is of another kind.
    public override func decodeData() -> Data? { decodeObject() as? Data }
    #if os(macOS) || !canImport(Darwin)
        /// The next value of a property list, as `decodeObject()` gives it.
        public override func decodePropertyList() -> Any? { decodeObject() }
    #else
        /// The next value of a property list, as `decodeObject()` gives it.
        public func decodePropertyList() -> Any? { decodeObject() }
    #endif
    /// The value of a property list under a key, as `decodeObject(forKey:)` gives it.
    public override func decodePropertyList(forKey key: String) -> Any? { decodeObject(forKey: key) }

    /// Always `NSNotFound`: keyed archives have no versions of classes.
    public override func version(forClassName className: String) -> Int { NSNotFound }

    /// Decodes the next number, object, C string, selector or array of numbers that was encoded without a key into memory
    /// of the given C type.
    ///
    /// Leaves the memory alone if there is none. An object arrives retained; a C string, and a selector where there is no
    /// Objective-C, lives as long as this unarchiver. A number that does not fit is recorded
    /// as `.outOfRange`, a value of another kind as `.typeMismatch`, a structure or pointer as `.unsupportedType`.
    public override func decodeValue(ofObjCType type: UnsafePointer<CChar>, at data: UnsafeMutableRawPointer) {
        decodeRawValue(type, at: data)
    }

    /// Decodes an array of numbers that was encoded without a key.
    ///
    /// Leaves the memory alone if there is none; an array of another length is recorded as `.typeMismatch`.
    public override func decodeArray(
        ofObjCType itemType: UnsafePointer<CChar>,
        count: Int,
        at array: UnsafeMutableRawPointer
    ) {
        decodeRawArray(itemType, count: count, at: array)
    }
}

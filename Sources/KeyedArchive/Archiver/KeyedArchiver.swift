import Foundation
import PropertyLists

/// Writes objects and values as a keyed archive, in the format of Apple's `NSKeyedArchiver`.
///
/// Classes that adopt `NSCoding` work unchanged:
///
/// ```swift
/// let data = try KeyedArchiver.archivedData(withRootObject: zoo)
/// ```
///
/// An archiver is used once, from one thread. An error inside an object's `encode(with:)`, which cannot throw, is
/// kept and thrown at the end: the first error wins.
public final class KeyedArchiver: NSCoder {
    let writer = ArchiveWriterPool.take()
    // Unchecked exclusivity: an archiver is used from one thread, and nothing calls out to a user's code while it
    // changes one of these.
    @exclusivity(unchecked) private var failure = FirstError()
    /// How deep objects and Codable values are being encoded, each inside the one before.
    @exclusivity(unchecked) private var nesting = NestingLimit(levels: NestingLimit.levels)
    /// The archive, once it is finished.
    @exclusivity(unchecked) private var finished: Data?
    @exclusivity(unchecked) private var isFinished = false
    @exclusivity(unchecked) private var securely: Bool
    /// Whether a reader may refuse this archive: for objects that refer to themselves, for collections that share
    /// their parts, or for a large set or dictionary, since its members or keys may share a hash.
    @exclusivity(unchecked) var mayBeRefused = false
    /// Whether there is a delegate to ask about every object.
    @exclusivity(unchecked) private(set) var asksDelegate = false
    /// The object that is about to be encoded in another one's place.
    @exclusivity(unchecked) var replacing: AnyObject?
    /// The objects whose replacements are being written, from the outside in.
    @exclusivity(unchecked) var replacementsUnderWay: [(object: AnyObject, replacement: AnyObject)] = []
    /// Where `finishEncoding` puts the archive too.
    private var destination: NSMutableData?

    /// The delegate, which may look at and replace every object; not kept alive.
    public weak var delegate: (any KeyedArchiverDelegate)? {
        didSet { asksDelegate = delegate != nil }
    }

    /// The form of property list that ``encodedData`` returns: `.binary`, unless set, or `.xml`; another one is an
    /// error there.
    ///
    /// XML is for people and for tools that read nothing else: it is larger and slower. Strings with a zero byte cannot
    /// be written, and a `Float` is read back as the `Double` of the same value.
    public var outputFormat = PropertyListFormat.binary

    /// Creates an archiver for one archive.
    ///
    /// - Parameter requiringSecureCoding: whether every object must adopt `NSSecureCoding`.
    public init(requiringSecureCoding: Bool = false) {
        securely = requiringSecureCoding
        super.init()
    }

    /// Creates an archiver that puts its archive into `data` when encoding is finished.
    public convenience init(forWritingWith data: NSMutableData) {
        self.init(requiringSecureCoding: false)
        destination = data
    }

    deinit { ArchiveWriterPool.giveBack(writer) }

    /// Archives one object graph.
    ///
    /// - Returns: the archive, and whether a reader may refuse it, which is seen by trying.
    package static func archive(_ object: Any) throws(ArchiveError) -> (bytes: [UInt8], mayBeRefused: Bool) {
        try withAutoreleasePool { () throws(ArchiveError) in
            let archiver = KeyedArchiver()
            archiver.encode(root: object)
            return (try archiver.finish { $0.finishedBytes() }, archiver.mayBeRefused)
        }
    }

    package static let rootKey = "root"

    /// Ends the archive, and calls the delegate for the last time.
    ///
    /// - Throws: as ``encodedData``. A second call does nothing.
    public func finishEncoding() throws(ArchiveError) { _ = try encodedData }

    /// The finished archive; ends encoding if that has not been done.
    ///
    /// - Throws: the first error of all that was encoded; if the ``outputFormat`` is not binary, `.unsupportedFormat`
    ///   for one that is not written, and `.unsupportedType` for values that XML cannot hold.
    public var encodedData: Data {
        get throws(ArchiveError) {
            if let error = failure.error { throw error }
            if let finished { return finished }
            delegate?.archiverWillFinish(self)
            let binary = try finish { $0.finishedData() }
            let data: Data
            do throws(ArchiveError) {
                data = try formatted(binary)
            } catch {
                record(error)
                throw error
            }
            finished = data
            destination?.setData(data)
            delegate?.archiverDidFinish(self)
            return data
        }
    }

    func finish<Result>(_ body: (ArchiveWriter) -> Result) throws(ArchiveError) -> Result {
        if let error = failure.error { throw error }
        isFinished = true
        return body(writer)
    }

    // MARK: Errors

    /// Whether an error was recorded: from then on nothing is encoded any longer.
    var hasFailed: Bool { failure.isSet }

    func record(_ error: ArchiveError) { failure.record(error) }

    /// Adds the key of the value that failed to the error.
    func locateFailure(within key: String) { failure.locate(within: key) }

    /// Records an error from inside an object's `encode(with:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.encodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`.
    public override var error: (any Error)? { failure.error }

    /// `true`: values have keys.
    public override var allowsKeyedCoding: Bool { true }
    /// Always 2,000, as for Foundation's keyed archivers.
    public override var systemVersion: UInt32 { 2_000 }

    /// Whether every object must adopt `NSSecureCoding`.
    public override var requiresSecureCoding: Bool {
        get { securely }
        set { securely = newValue }
    }

    private var isOpen: Bool {
        if hasFailed { return false }
        if isFinished {
            record(ArchiveError(.encodingFailed, "encoding after the archive was finished"))
            return false
        }
        return true
    }

    // MARK: Objects

    /// The place of any value in `$objects`; 0 for nil and after an error.
    func uid(of value: Any) -> ArchiveWriter.UID {
        if !asksDelegate {
            // The commonest ones first.
            switch CommonValue(value) {
            case .text(let text): return string(text)
            case .number(let number): return writer.addObject(writer.scalar(number))
            case nil: break
            }
        }
        let handler = writer.handlers.find(type(of: value))
        return asksDelegate ? askDelegate(about: value, handler) : handler.encode(value, self)
    }

    /// Notes how many members a set has, or keys a dictionary, before they are written: for that many, a reader counts
    /// equal hashes, separately for each collection.
    func willHash(_ count: Int) {
        if count > HashCrowd.limit { mayBeRefused = true }
    }

    /// The place of a set's member or a dictionary's key, which a reader must hash.
    ///
    /// Collections are refused: an archive from elsewhere could hold some that take for ever to compare.
    func hashed(_ value: Any) -> ArchiveWriter.UID {
        let base = (value as? AnyHashable)?.base ?? value
        if FoundationClasses.isCollection(type(of: base)) {
            record(
                ArchiveError(
                    .unsupportedType,
                    "a collection, or the like, cannot be a set's member or a dictionary's key"
                )
            )
            return 0
        }
        // A reader charges the comparisons of data, and the hashes of long members.
        if !mayBeRefused, HashCrowd.byteCount(ofData: base) != nil || HashCrowd.cost(ofHashing: base) > 0 {
            mayBeRefused = true
        }
        return member(base)
    }

    /// The place of a collection's member, which cannot be nil: a reader makes no collection with a hole in it.
    func member(_ value: Any) -> ArchiveWriter.UID {
        let uid = uid(of: value)
        if uid == 0, !hasFailed {
            let name = ClassNames.name(of: type(of: value))
            record(ArchiveError(.encodingFailed, "\(name), whose replacement is nil, as a member of a collection"))
        }
        return uid
    }

    func string(
        _ text: String,
        as role: BinaryPropertyListWriter.TextRole = .value
    ) -> ArchiveWriter.UID {
        // The text that stands for nil cannot be written as itself: Apple's archiver makes it an object, too.
        if text == "$null" { return newObject(.of(NSString.self)) { [("NS.string", $0.string(text))] } }
        return writer.stringObject(text, as: role)
    }

    /// The place of a string, given as its UTF-8 bytes.
    func string(_ utf8: UnsafeBufferPointer<UInt8>) -> ArchiveWriter.UID {
        if utf8.count == 5, utf8[0] == 0x24, utf8.elementsEqual("$null".utf8) { return string("$null") }
        return writer.stringObject(utf8)
    }

    /// The place of an object, which `body` fills if the object is new.
    @inline(__always)
    func place(of object: AnyObject, _ body: (ArchiveWriter.UID) -> Void) -> ArchiveWriter.UID {
        let found = writer.identities.find(object)
        if let found, !writer.identities[found].isReserved { return refer(to: found) }
        return fill(object, at: found, body)
    }

    /// The place of an object that is in the archive, or being encoded.
    func refer(to position: Int) -> ArchiveWriter.UID {
        if writer.identities[position].isOpen { mayBeRefused = true }
        return writer.identities[position].uid
    }

    /// Gives a new object, or one that was met conditionally only, its place and contents.
    func fill(
        _ object: AnyObject,
        at reserved: Int?,
        _ body: (ArchiveWriter.UID) -> Void
    ) -> ArchiveWriter.UID {
        let uid: ArchiveWriter.UID
        let position: Int
        if let reserved {
            position = reserved
            uid = writer.identities[position].uid
            writer.identities[position].isReserved = false
            writer.fill(uid)
        } else {
            uid = writer.reserveObject()
            position = writer.identities.add(object, uid: uid, isReserved: false)
        }
        writer.identities[position].isOpen = true
        body(uid)
        writer.identities[position].isOpen = false
        return uid
    }

    /// Writes an object of a user's class as a scope of its own.
    @inline(__always)
    func encode(
        instance object: AnyObject,
        as info: @autoclosure () -> ArchivedClass,
        _ body: () -> Void
    ) -> ArchiveWriter.UID {
        let found = writer.identities.find(object)
        if let found, !writer.identities[found].isReserved { return refer(to: found) }
        guard enter() else { return 0 }
        defer { leave() }
        return fill(object, at: found) { uid in
            writer.pushScope()
            body()
            if !hasFailed { writer.popObject(uid, class: info()) }
        }
    }

    /// Begins one more level of nesting, if that is allowed; `leave` ends it. Records the error if not.
    func enter() -> Bool {
        if hasFailed { return false }
        do throws(ArchiveError) {
            try nesting.enter()
        } catch {
            record(error)
            return false
        }
        return true
    }

    func leave() { nesting.leave() }

    /// Encodes an object or value under a key; `nil` too, which decodes to `nil`.
    ///
    /// A key that is encoded again has the last value. An error is recorded, see ``error``.
    public override func encode(_ object: Any?, forKey key: String) {
        setReference(forKey: key) {
            writer.reference(to: withContent(of: object) { uid(of: $0) } ?? 0)
        }
    }

    /// Encodes an object under the key `root`.
    func encode(root object: Any) {
        setReference(forKey: Self.rootKey) { writer.reference(to: uid(of: object)) }
    }

    /// Puts the value that `body` writes under a key, or adds the key to the error if `body` failed.
    @inline(__always)
    func setReference(forKey key: String, _ body: () -> ArchiveWriter.Reference) {
        guard isOpen else { return }
        let reference = body()
        if hasFailed { return failure.locate(within: key) }
        writer.set(key, reference)
    }

    /// Encodes a reference to an object that is in the archive only if something else encodes it too.
    ///
    /// Decodes to `nil` otherwise. Values of Swift, and strings and data that cannot be changed, are always in the archive.
    public override func encodeConditionalObject(_ object: Any?, forKey key: String) {
        guard isOpen else { return }
        writer.set(key, writer.reference(to: conditional(object)))
    }

    private func conditional(_ object: Any?) -> ArchiveWriter.UID {
        guard let object else { return 0 }
        guard type(of: object) is AnyClass else { return uid(of: object) }
        let instance = object as AnyObject
        // Texts and data are archived by their content: an archive does not tell which objects encode them.
        if let text = instance as? NSString, !isMutable(text, NSMutableString.self) { return uid(of: object) }
        if let data = instance as? NSData, !isMutable(data, NSMutableData.self) { return uid(of: object) }
        if let position = writer.identities.find(instance) { return refer(to: position) }
        let uid = writer.reserveNull()
        writer.identities.add(instance, uid: uid, isReserved: true)
        return uid
    }

    // MARK: Scalars

    private func set(_ key: String, _ value: @autoclosure () -> ArchiveWriter.Reference) {
        if isOpen { writer.set(key, value()) }
    }

    /// Encodes a Boolean under a key.
    public override func encode(_ value: Bool, forKey key: String) { set(key, writer.scalar(value)) }
    /// Encodes an integer under a key.
    public override func encode(_ value: Int, forKey key: String) { set(key, writer.scalar(Int64(value))) }
    #if canImport(Darwin)
        public override func encodeCInt(_ value: Int32, forKey key: String) { encode(value, forKey: key) }
    #endif
    /// Encodes an integer under a key; every type of integers has one form in the archive.
    public override func encode(_ value: Int32, forKey key: String) { set(key, writer.scalar(Int64(value))) }
    /// Encodes an integer under a key.
    public override func encode(_ value: Int64, forKey key: String) { set(key, writer.scalar(value)) }
    /// Encodes a real number of 4 bytes under a key.
    public override func encode(_ value: Float, forKey key: String) { set(key, writer.scalar(value)) }
    /// Encodes a real number of 8 bytes under a key.
    public override func encode(_ value: Double, forKey key: String) { set(key, writer.scalar(value)) }

    /// Encodes `length` bytes under a key, in the form of `Data`.
    public override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
        set(key, writer.scalar(UnsafeRawBufferPointer(start: bytes, count: length)))
    }

    // MARK: Unkeyed values

    func append(_ value: @autoclosure () -> ArchiveWriter.Reference) {
        guard isOpen else { return }
        let reference = value()
        if !hasFailed { writer.setUnkeyed(reference) }
    }

    /// Encodes an object or value without a key: it is decoded in its turn.
    public override func encode(_ object: Any?) { append(writer.reference(to: object.map(uid(of:)) ?? 0)) }
    /// Encodes an object without a key, as `encode(_:)` does.
    public override func encodeRootObject(_ object: Any) { encode(object as Any?) }
    /// Encodes an object without a key, as `encode(_:)` does: an archive always has a copy.
    public override func encodeBycopyObject(_ object: Any?) { encode(object) }
    /// Encodes an object without a key, as `encode(_:)` does: an archive always has a copy.
    public override func encodeByrefObject(_ object: Any?) { encode(object) }
    /// Encodes a reference without a key, as `encodeConditionalObject(_:forKey:)` does.
    public override func encodeConditionalObject(_ object: Any?) {
        append(writer.reference(to: conditional(object)))
    }
    /// Encodes data without a key.
    public override func encode(_ data: Data) { encode(data as Any?) }
    #if os(macOS) || !canImport(Darwin)
        /// Encodes a value of a property list, as `encode(_:)` does.
        public override func encodePropertyList(_ list: Any) { encode(list as Any?) }
    #else
        /// Encodes a value of a property list, as `encode(_:)` does.
        public func encodePropertyList(_ list: Any) { encode(list as Any?) }
    #endif

    /// Encodes `length` bytes without a key, in the form of `Data`.
    public override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) {
        append(writer.scalar(UnsafeRawBufferPointer(start: bytes, count: length)))
    }

    /// Encodes a number, an object, a C string, a selector or an array of numbers without a key; `type` is its C type in
    /// Objective-C's notation.
    ///
    /// C strings and selectors are strings in the archive. A selector is a pointer to its name where there is no
    /// Objective-C. Structures, unions and other pointers cannot be archived: recorded as `.unsupportedType`.
    public override func encodeValue(ofObjCType type: UnsafePointer<CChar>, at address: UnsafeRawPointer) {
        encodeRawValue(type, at: address)
    }

    /// Encodes `count` numbers that lie side by side, without a key.
    public override func encodeArray(
        ofObjCType type: UnsafePointer<CChar>,
        count: Int,
        at array: UnsafeRawPointer
    ) {
        encodeRawArray(type, count: count, at: array)
    }
}

import Foundation

/// Writes objects and values as a keyed archive, in the binary format of Apple's `NSKeyedArchiver`.
///
/// Classes that adopt `NSCoding` work unchanged:
///
/// ```swift
/// let data = try KeyedArchiver.archivedData(withRootObject: zoo)
/// ```
///
/// An archiver is used once, from one thread. What goes wrong inside an object's `encode(with:)`, which cannot
/// throw, is kept and thrown at the end: the first error wins.
public final class KeyedArchiver: NSCoder {
    let writer = ArchiveWriterPool.take()
    private var failure: ArchiveError?
    /// How many objects and Codable values are being encoded, each inside the one before.
    var depth = 0
    private var nesting = NestingLimit()
    private var isFinished = false
    private var lastHandler: ArchiveHandler?
    private let securely: Bool
    /// Whether graphs that cannot be unarchived yet, because they run in circles, are errors.
    private let refusesCycles: Bool

    /// Creates an archiver for one archive.
    ///
    /// - Parameter requiringSecureCoding: whether every object must adopt `NSSecureCoding`.
    public convenience init(requiringSecureCoding: Bool = false) {
        self.init(requiringSecureCoding: requiringSecureCoding, refusingCycles: false)
    }

    init(requiringSecureCoding: Bool, refusingCycles: Bool) {
        securely = requiringSecureCoding
        refusesCycles = refusingCycles
        super.init()
    }

    deinit { ArchiveWriterPool.giveBack(writer) }

    /// Archives one object graph under the key `root`.
    ///
    /// - Parameters:
    ///   - object: an object that adopts `NSCoding`, or a string, number, date, collection, ….
    ///   - requiringSecureCoding: whether every object must adopt `NSSecureCoding`.
    /// - Throws: ``ArchiveError`` with code `.unsupportedType` if something in the graph cannot be archived,
    ///   `.limitExceeded` if it nests more than 1,000 deep, or what an object's own coding recorded.
    /// - Complexity: O(*n*) in the objects of the graph.
    public static func archivedData(
        withRootObject object: Any,
        requiringSecureCoding: Bool = false
    ) throws(ArchiveError) -> Data {
        let archiver = KeyedArchiver(requiringSecureCoding: requiringSecureCoding)
        archiver.encode(object, forKey: rootKey)
        return try archiver.finish { Data($0) }
    }

    /// Archives one object graph, if it can be unarchived again.
    ///
    /// - Throws: as the public method, and `.cyclicReference` if the graph runs in circles.
    package static func archive(_ object: Any) throws(ArchiveError) -> [UInt8] {
        let archiver = KeyedArchiver(requiringSecureCoding: false, refusingCycles: true)
        archiver.encode(object, forKey: rootKey)
        return try archiver.finish { Array($0) }
    }

    package static let rootKey = "root"

    /// Ends the archive and returns it.
    ///
    /// - Throws: the first error of all that was encoded; `.encodingFailed` if called twice.
    public func encodedData() throws(ArchiveError) -> Data { try finish { Data($0) } }

    func finish<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) throws(ArchiveError) -> Result {
        if isFinished { record(ArchiveError(.encodingFailed, "the archive is finished already")) }
        isFinished = true
        if let failure { throw failure }
        return writer.finish(body)
    }

    // MARK: Errors

    /// Whether an error was recorded: from then on nothing is encoded any more.
    var hasFailed: Bool { failure != nil }

    func record(_ error: ArchiveError) {
        if failure == nil { failure = error }
    }

    /// Names the key under which an error came up, from the inside out.
    private func locate(_ key: String) {
        if let found = failure { failure = found.within(key) }
    }

    /// Records an error from inside an object's `encode(with:)`.
    public override func failWithError(_ error: any Error) {
        record(error as? ArchiveError ?? ArchiveError(.encodingFailed, "\(error)", cause: error))
    }

    /// The first error, or `nil`.
    public override var error: (any Error)? { failure }

    public override var allowsKeyedCoding: Bool { true }
    public override var requiresSecureCoding: Bool { securely }

    private var isOpen: Bool {
        if failure != nil { return false }
        if isFinished {
            record(ArchiveError(.encodingFailed, "encoding after the archive was finished"))
            return false
        }
        return true
    }

    // MARK: Objects

    /// The place of any value in `$objects`; 0 for nil and after an error.
    func uid(of value: Any) -> ArchiveWriter.UID {
        let type = type(of: value)
        // The commonest ones first: comparing metatypes costs less than any cast.
        if type == String.self, let text = value as? String { return string(text) }
        if type == Double.self, let number = value as? Double {
            return writer.addObject(writer.scalar(number))
        }
        if let handler = lastHandler, handler.type == ObjectIdentifier(type) {
            return handler.encode(value, self)
        }
        let handler = ArchiveHandler.for(type)
        lastHandler = handler
        return handler.encode(value, self)
    }

    /// The place of a set's member or a dictionary's key, which whoever decodes it must hash.
    ///
    /// Collections are refused: an archive from elsewhere could hold some that take for ever to compare.
    func hashed(_ value: Any) -> ArchiveWriter.UID {
        let base = (value as? AnyHashable)?.base ?? value
        if ArchiveHandler.for(type(of: base)).isCollection {
            record(ArchiveError(.unsupportedType, "a collection cannot be a set's member or a dictionary's key"))
            return 0
        }
        return uid(of: base)
    }

    func string(_ text: String) -> ArchiveWriter.UID {
        // The text that stands for nil cannot be written as itself: Apple's archiver makes it an object, too.
        if text == "$null" { return newObject(.of(NSString.self)) { [("NS.string", $0.string(text))] } }
        return writer.stringObject(text)
    }

    /// The place of an object, which `body` fills if the object is new.
    func place(of object: AnyObject, _ body: (ArchiveWriter.UID) -> Void) -> ArchiveWriter.UID {
        let uid: ArchiveWriter.UID
        let position: Int
        if let found = writer.identities.find(object) {
            uid = writer.identities[found].uid
            guard writer.identities[found].isReserved else {
                refuseCircle(through: found)
                return uid
            }
            position = found
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

    private func refuseCircle(through position: Int) {
        if refusesCycles, writer.identities[position].isOpen {
            record(ArchiveError(.cyclicReference, "an object refers, in the end, to itself"))
        }
    }

    /// Writes an object of a user's class as a scope of its own.
    func encode(
        instance object: AnyObject,
        as info: @autoclosure () -> ArchivedClass,
        _ body: () -> Void
    ) -> ArchiveWriter.UID {
        guard enter() else { return 0 }
        defer { leave() }
        return place(of: object) { uid in
            writer.pushScope()
            body()
            if !hasFailed { writer.popObject(uid, class: info()) }
        }
    }

    /// Begins one more level of nesting, if that is allowed; `leave` ends it. Records the error if not.
    func enter() -> Bool {
        if hasFailed { return false }
        do throws(ArchiveError) {
            try nesting.check(depth, below: NestingLimit.levels)
        } catch {
            record(error)
            return false
        }
        depth += 1
        return true
    }

    func leave() { depth -= 1 }

    public override func encode(_ object: Any?, forKey key: String) {
        guard isOpen else { return }
        let uid = object.map(uid(of:)) ?? 0
        if hasFailed { return locate(key) }
        writer.set(key, writer.reference(to: uid))
    }

    /// Encodes a reference to an object that is in the archive only if something else encodes it too.
    ///
    /// Decodes to `nil` otherwise.
    public override func encodeConditionalObject(_ object: Any?, forKey key: String) {
        guard isOpen else { return }
        writer.set(key, writer.reference(to: conditional(object)))
    }

    private func conditional(_ object: Any?) -> ArchiveWriter.UID {
        guard let object else { return 0 }
        guard type(of: object) is AnyClass else { return uid(of: object) }
        let instance = object as AnyObject
        if let position = writer.identities.find(instance) {
            refuseCircle(through: position)
            return writer.identities[position].uid
        }
        let uid = writer.reserveNull()
        writer.identities.add(instance, uid: uid, isReserved: true)
        return uid
    }

    // MARK: Scalars

    private func set(_ key: String, _ value: @autoclosure () -> ArchiveWriter.Reference) {
        if isOpen { writer.set(key, value()) }
    }

    public override func encode(_ value: Bool, forKey key: String) { set(key, writer.scalar(value)) }
    public override func encode(_ value: Int, forKey key: String) { set(key, writer.scalar(Int64(value))) }
    public override func encode(_ value: Int32, forKey key: String) { set(key, writer.scalar(Int64(value))) }
    public override func encode(_ value: Int64, forKey key: String) { set(key, writer.scalar(value)) }
    public override func encode(_ value: Float, forKey key: String) { set(key, writer.scalar(value)) }
    public override func encode(_ value: Double, forKey key: String) { set(key, writer.scalar(value)) }

    public override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
        set(key, writer.scalar(UnsafeRawBufferPointer(start: bytes, count: length)))
    }

    // MARK: Unkeyed values

    private func append(_ value: @autoclosure () -> ArchiveWriter.Reference) {
        guard isOpen else { return }
        let reference = value()
        if !hasFailed { writer.setUnkeyed(reference) }
    }

    public override func encode(_ object: Any?) { append(writer.reference(to: object.map(uid(of:)) ?? 0)) }
    public override func encodeRootObject(_ object: Any) { encode(object as Any?) }
    public override func encodeBycopyObject(_ object: Any?) { encode(object) }
    public override func encodeByrefObject(_ object: Any?) { encode(object) }
    public override func encodeConditionalObject(_ object: Any?) {
        append(writer.reference(to: conditional(object)))
    }
    public override func encode(_ data: Data) { encode(data as Any?) }
    public override func encodePropertyList(_ list: Any) { encode(list as Any?) }

    public override func encodeBytes(_ bytes: UnsafeRawPointer?, length: Int) {
        append(writer.scalar(UnsafeRawBufferPointer(start: bytes, count: length)))
    }

    public override func encodeValue(ofObjCType type: UnsafePointer<CChar>, at address: UnsafeRawPointer) {
        failWithError(Self.rawValues)
    }

    public override func encodeArray(
        ofObjCType type: UnsafePointer<CChar>,
        count: Int,
        at array: UnsafeRawPointer
    ) {
        failWithError(Self.rawValues)
    }

    private static let rawValues = ArchiveError(
        .unsupportedType,
        "values by Objective-C type are not archived: use the methods with a key"
    )
}

import Foundation

/// Builds the object table, the scopes and the class dictionaries of one keyed archive.
///
/// Scopes lie on one stack: an object's keys stand on top while it encodes itself and are copied out when it
/// is done, so nested objects cost no allocation of their own. The order of UIDs is Apple's: an object's number
/// is taken when it is met, its contents follow, its class comes after its contents if it is new.
///
/// Unchecked: a writer belongs to one archiver at a time, and changes hands only in `ArchiveWriterPool`.
final class ArchiveWriter: @unchecked Sendable {
    typealias Reference = BinaryPropertyListWriter.Reference
    /// An object's index in `$objects`; 0 is nil.
    typealias UID = UInt32

    struct Scope: BitwiseCopyable {
        let serial: UInt32
        /// Where the scope's pairs begin on the stack.
        let base: Int
        let undoBase: Int
        /// The number of the next unkeyed value.
        var unkeyed = 0
    }

    private struct Undo: BitwiseCopyable {
        let string: Int
        let scope: UInt32
        let slot: Int
    }

    // Unchecked exclusivity: every access is within one call of this class, none of which calls out while it
    // changes something, and an archiver is used from one thread. The checks cost 15 % of a small archive.
    @exclusivity(unchecked) var list = BinaryPropertyListWriter()
    @exclusivity(unchecked) private var strings = StringTable()
    /// The property-list object of each UID.
    @exclusivity(unchecked) var objects = RawBuffer<Reference>(capacity: 64)
    /// The property-list UID object of each UID, once there is one.
    @exclusivity(unchecked) private var uidReferences = RawBuffer<Reference>(capacity: 64)
    @exclusivity(unchecked) var pairs = RawBuffer<KeyedReference>(capacity: 64)
    @exclusivity(unchecked) private var scopes = RawBuffer<Scope>(capacity: 16)
    @exclusivity(unchecked) private var undos = RawBuffer<Undo>(capacity: 16)
    @exclusivity(unchecked) private var nextSerial: UInt32 = 0
    @exclusivity(unchecked) var classes: [(info: ArchivedClass, uid: UID)] = []
    @exclusivity(unchecked) var classIndex: [ObjectIdentifier: UID] = [:]
    /// The places of classes that this process does not have.
    @exclusivity(unchecked) var describedClasses: [ArchiveTree.ClassDescription: UID] = [:]
    /// The entries of the key, and of the other name, that were written last, in this archive or the one before.
    @exclusivity(unchecked) private var lastKey: Int?
    @exclusivity(unchecked) private var lastName: Int?
    /// The entries of the keys of Foundation's values, in this archive or one before: guesses, which are compared.
    @exclusivity(unchecked) var usualNames = [Int](repeating: 0, count: UsualKey.allCases.count)
    @exclusivity(unchecked) var handlers = HandlerCache()
    /// The forms of the types in this archive and in the writer's earlier archives.
    @exclusivity(unchecked) var forms = TypeTable<EncodableForm>()
    @exclusivity(unchecked) var identities = IdentityTable()
    /// The names that classes have in this archive only.
    @exclusivity(unchecked) var givenNames = GivenClassNames()

    // The strings that every archive needs, added first and in this order.
    static let null: Reference = 0
    static let classKey: Reference = 1

    /// Where the first names end in the list.
    @exclusivity(unchecked) private var start = 0

    init() {
        objects.append(add("$null"))
        uidReferences.append(Self.null)
        _ = add("$class")
        start = list.bytes.count
        pushScope()
    }

    /// Forgets everything but the memory that is there, and the names, for the next archive.
    func reset() {
        strings.reset()
        list.reset(keeping: 2, end: start)
        objects.truncate(to: 1)
        uidReferences.truncate(to: 1)
        uidReferences[0] = Self.null
        pairs.truncate(to: 0)
        scopes.truncate(to: 0)
        undos.truncate(to: 0)
        nextSerial = 0
        // Not `removeAll`, which takes three times as long for a few.
        while !classes.isEmpty { classes.removeLast() }
        if !classIndex.isEmpty { classIndex = [:] }
        if !describedClasses.isEmpty { describedClasses = [:] }
        identities.removeAll()
        if !givenNames.isEmpty { givenNames = GivenClassNames() }
        pushScope()
    }

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { list.footprint + strings.footprint + 16 * objects.capacity + 8 * pairs.capacity }

    /// Whether its list was given away, so that there is no memory to use again.
    var isSpent: Bool { list.bytes.isEmpty }

    var depth: Int { scopes.count }
    /// Tells one scope from every other of the archive.
    var currentSerial: UInt32 { scopes[scopes.count - 1].serial }

    // MARK: Scopes

    func pushScope() {
        nextSerial &+= 1
        scopes.append(Scope(serial: nextSerial, base: pairs.count, undoBase: undos.count))
    }

    func popScope() -> Scope {
        let scope = scopes[scopes.count &- 1]
        scopes.truncate(to: scopes.count &- 1)
        while undos.count > scope.undoBase {
            let undo = undos[undos.count &- 1]
            undos.truncate(to: undos.count &- 1)
            strings[undo.string].scope = undo.scope
            strings[undo.string].slot = undo.slot
        }
        return scope
    }

    /// Ends the innermost scope and makes its pairs the dictionary of `uid`, with its class.
    func popObject(_ uid: UID, class info: ArchivedClass) {
        // The class dictionary comes after the contents and before `$class`, which refers to it.
        let classReference = reference(to: classUID(info))
        pairs.append(KeyedReference(key: Self.classKey, value: classReference))
        popDictionary(uid)
    }

    /// Gives up every scope above `depth`: their pairs are not in the archive, and references to their objects lead to
    /// nil.
    func abandonScopes(above depth: Int) {
        while scopes.count > depth {
            let scope = popScope()
            pairs.truncate(to: scope.base)
        }
    }

    /// Puts a value under a key of the innermost scope; a key that is there already gets the new value.
    func set(_ key: String, _ value: Reference) { set(entry: intern(key: key), value) }

    /// Puts a value under a key, given as its UTF-8 bytes.
    func set(_ key: UnsafeBufferPointer<UInt8>, _ value: Reference) { set(entry: intern(key: key), value) }

    @inline(__always)
    private func set(entry string: Int, _ value: Reference) {
        let scope = scopes[scopes.count - 1].serial
        let known = strings[string].scope
        if known == scope {
            pairs[strings[string].slot].value = value
            return
        }
        if known != 0 { undos.append(Undo(string: string, scope: known, slot: strings[string].slot)) }
        strings[string].scope = scope
        strings[string].slot = pairs.count
        pairs.append(KeyedReference(key: strings[string].reference, value: value))
    }

    /// Puts a value under the next of the scope's own keys `$0`, `$1`, ….
    func setUnkeyed(_ value: Reference) {
        let number = scopes[scopes.count - 1].unkeyed
        scopes[scopes.count - 1].unkeyed += 1
        // These keys are not mangled, so that no user's key can meet them.
        let key = name("$\(number)")
        pairs.append(KeyedReference(key: key, value: value))
    }

    // MARK: Objects

    /// Takes the next place in `$objects` for a container or for an object that is filled later.
    func reserveObject() -> UID {
        objects.append(list.reserveContainer())
        return appended()
    }

    /// Takes the next place in `$objects`, which stays nil until `fill` is called.
    func reserveNull() -> UID {
        objects.append(Self.null)
        return appended()
    }

    /// Gives a place that was reserved as nil a container to be filled.
    func fill(_ uid: UID) {
        objects[Int(uid)] = list.reserveContainer()
    }

    /// Makes a place that was reserved as nil show the same object as the place `other`.
    func fill(_ uid: UID, asIn other: UID) {
        objects[Int(uid)] = objects[Int(other)]
    }

    /// Adds a scalar as an object of its own.
    func addObject(_ scalar: Reference) -> UID {
        objects.append(scalar)
        return appended()
    }

    private func appended() -> UID {
        uidReferences.append(0)
        return UID(truncatingIfNeeded: objects.count - 1)
    }

    /// The property-list object that refers to `uid`.
    func reference(to uid: UID) -> Reference {
        let known = uidReferences[Int(uid)]
        // Reference 0 is the string `$null`, never a UID, so it can stand for "none yet".
        if known != 0 { return known }
        let made = list.add(uid: uid)
        uidReferences[Int(uid)] = made
        return made
    }

    /// An inline array of references to objects.
    func array(_ members: [UID]) -> Reference {
        // The references first: making one may add an object of its own.
        for uid in members { _ = reference(to: uid) }
        let made = list.reserveContainer()
        list.fillArray(made, count: members.count)
        for uid in members { list.addElement(reference(to: uid)) }
        return made
    }

    // MARK: Strings

    /// The object of a string, the same for equal strings: equal immutable strings cannot be told apart.
    func stringObject(_ text: String, as role: BinaryPropertyListWriter.TextRole) -> UID {
        stringObject(ofEntry: intern(text, as: role))
    }

    /// The object of a string that is a value, given as its UTF-8 bytes.
    func stringObject(_ utf8: UnsafeBufferPointer<UInt8>) -> UID {
        stringObject(ofEntry: intern(utf8, as: .value))
    }

    @inline(__always)
    private func stringObject(ofEntry index: Int) -> UID {
        let known = strings[index].uid
        if known != 0 { return known }
        let uid = addObject(strings[index].reference)
        strings[index].uid = uid
        return uid
    }

    /// A string inline.
    func string(_ text: String) -> Reference { strings[intern(text, as: .value)].reference }

    /// The name of a class, or of a key that is not the user's.
    func name(_ text: String) -> Reference {
        withBytes(of: text) { strings[intern(name: $0, after: &lastName)].reference }
    }

    /// The string of a name that stands at the same place of many archives.
    ///
    /// - Parameter guess: the entry that it had last.
    func string(named name: UnsafeBufferPointer<UInt8>, at guess: inout Int) -> Reference {
        if strings.holds(guess, name, in: &list) {
            if !strings.isPresent(guess) { strings.present(guess, as: list.add(name: name)) }
        } else {
            guess = intern(name, as: .name, isName: true)
        }
        return strings[guess].reference
    }

    /// The entry of a key as the user gave it.
    private func intern(key: String) -> Int {
        withBytes(of: key) { intern(key: $0) }
    }

    private func intern(key: UnsafeBufferPointer<UInt8>) -> Int {
        if key.first != 0x24 { return intern(name: key, after: &lastKey) }
        // Stored with one `$` more.
        return withBytes(of: "$" + String(decoding: key, as: UTF8.self)) { intern(name: $0, after: &lastKey) }
    }

    /// The entry of a name: most often it is the one that came after the last name before.
    @inline(__always)
    private func intern(name: UnsafeBufferPointer<UInt8>, after last: inout Int?) -> Int {
        if let guess = strings.follower(of: last, if: name, in: &list) {
            last = guess
            if !strings.isPresent(guess) { strings.present(guess, as: list.add(name: name)) }
            return guess
        }
        let index = intern(name, as: .name, isName: true)
        strings.follow(last, with: index)
        last = index
        return index
    }

    private func intern(_ text: String, as role: BinaryPropertyListWriter.TextRole) -> Int {
        withBytes(of: text) { intern($0, as: role) }
    }

    /// - Parameter isName: whether the string is likely to be in the next archive too.
    private func intern(
        _ utf8: UnsafeBufferPointer<UInt8>,
        as role: BinaryPropertyListWriter.TextRole,
        isName: Bool = false
    ) -> Int {
        let (hash, isASCII) = strings.digest(utf8)
        if let index = strings.index(of: utf8, hash: hash, in: &list) {
            if !strings.isPresent(index) { strings.present(index, as: list.add(ascii: utf8, as: role)) }
            return index
        }
        let reference =
            isASCII
            ? list.add(ascii: utf8, as: role)
            : list.add(utf16: String(decoding: utf8, as: UTF8.self).utf16, as: role)
        return strings.add(utf8, hash: hash, isASCII: isASCII, isName: isName, reference: reference, in: &list)
    }

    @inline(__always)
    private func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = text
        return text.withUTF8(body)
    }

    @inline(__always)
    private func add(_ text: StaticString) -> Reference {
        text.withUTF8Buffer { list.add(name: $0) }
    }

    // MARK: Scalars

    func scalar(_ value: Bool) -> Reference { list.add(value) }
    func scalar(_ value: Int64) -> Reference { list.add(value) }
    func scalar(_ value: UInt64) -> Reference { list.add(value) }
    func scalar(_ value: Float) -> Reference { list.add(value) }
    func scalar(_ value: Double) -> Reference { list.add(value) }
    func scalar(_ value: UnsafeRawBufferPointer) -> Reference { list.add(data: value) }

    // MARK: The end

    /// Ends the archive and returns its bytes.
    func finishedData() -> Data {
        finish()
        if ArchiveWriterPool.keeps(self) { return list.bytes.withElements { Data(buffer: $0) } }
        // Large ones are not copied: their memory would not be used again.
        let bytes = list.take()
        guard let start = bytes.baseAddress else { return Data() }
        return Data(bytesNoCopy: start, count: bytes.count, deallocator: .free)
    }

    /// Ends the archive and returns its bytes.
    func finishedBytes() -> [UInt8] {
        finish()
        return list.bytes.withElements { Array($0) }
    }

    /// Ends the archive; its bytes are valid only while `body` runs.
    func withFinishedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        finish()
        return list.bytes.withElements(body)
    }

    /// Ends the archive: `$top` is the outermost scope.
    private func finish() {
        let scope = popScope()
        let top = list.reserveContainer()
        list.fillDictionary(top, pairs, from: scope.base)
        pairs.truncate(to: 0)
        let table = list.reserveContainer()
        list.fillArray(table, count: objects.count)
        list.addElements(objects)
        let root = list.reserveContainer()
        pairs.append(KeyedReference(key: add("$version"), value: list.add(constant: 100_000)))
        pairs.append(KeyedReference(key: add("$archiver"), value: name("NSKeyedArchiver")))
        pairs.append(KeyedReference(key: add("$top"), value: top))
        pairs.append(KeyedReference(key: add("$objects"), value: table))
        list.fillDictionary(root, pairs, from: 0)
        list.finish(top: root)
    }
}

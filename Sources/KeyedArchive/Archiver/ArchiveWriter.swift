/// Builds the object table, the scopes and the class dictionaries of one keyed archive.
///
/// Scopes lie on one stack: an object's keys stand on top while it encodes itself and are copied out when it
/// is done, so nested objects cost no allocation of their own. The order of UIDs is Apple's: an object's number
/// is taken when it is met, its contents follow, its class comes after its contents if it is new.
struct ArchiveWriter {
    typealias Reference = BinaryPropertyListWriter.Reference
    /// An object's index in `$objects`; 0 is nil.
    typealias UID = UInt32

    struct Scope {
        let serial: UInt32
        /// Where the scope's pairs begin on the stack.
        let base: Int
        let undoBase: Int
        /// The number of the next unkeyed value.
        var unkeyed = 0
    }

    private struct Undo {
        let string: Int
        let scope: UInt32
        let slot: Int
    }

    private(set) var list = BinaryPropertyListWriter()
    private var strings = StringTable()
    /// The property-list object of each UID.
    private var objects: [Reference] = []
    /// The property-list UID object of each UID, once there is one.
    private var uidReferences: [Reference] = []
    private var pairs: [KeyedReference] = []
    private var scopes: [Scope] = []
    private var undos: [Undo] = []
    private var nextSerial: UInt32 = 0
    private var classes: [(info: ArchivedClass, uid: UID)] = []
    private var classIndex: [ObjectIdentifier: UID] = [:]
    var identities = IdentityTable()

    // The strings that every archive needs, added first and in this order.
    private static let null: Reference = 0
    private static let classKey: Reference = 1

    init() {
        objects.reserveCapacity(16)
        uidReferences.reserveCapacity(16)
        pairs.reserveCapacity(32)
        scopes.reserveCapacity(8)
        objects.append(add("$null" as StaticString))
        uidReferences.append(Self.null)
        _ = add("$class" as StaticString)
        pushScope()
    }

    var depth: Int { scopes.count }
    /// Tells one scope from every other of the archive.
    var currentSerial: UInt32 { scopes[scopes.count - 1].serial }

    // MARK: Scopes

    mutating func pushScope() {
        nextSerial &+= 1
        scopes.append(Scope(serial: nextSerial, base: pairs.count, undoBase: undos.count))
    }

    private mutating func popScope() -> Scope {
        let scope = scopes.removeLast()
        while undos.count > scope.undoBase {
            let undo = undos.removeLast()
            strings[undo.string].scope = undo.scope
            strings[undo.string].slot = undo.slot
        }
        return scope
    }

    /// Ends the innermost scope and makes its pairs the dictionary of `uid`, with its class.
    mutating func popObject(_ uid: UID, class info: ArchivedClass) {
        // The class dictionary comes after the contents and before `$class`, which refers to it.
        let classReference = reference(to: classUID(info))
        pairs.append(KeyedReference(key: Self.classKey, value: classReference))
        let scope = popScope()
        list.fillDictionary(objects[Int(uid)], pairs[scope.base...])
        pairs.removeLast(pairs.count - scope.base)
    }

    /// Gives up every scope above `depth`; what they hold is not in the archive, and refers to nil.
    mutating func abandonScopes(above depth: Int) {
        while scopes.count > depth {
            let scope = popScope()
            pairs.removeLast(pairs.count - scope.base)
        }
    }

    /// Puts a value under a key of the innermost scope; a key that is there already gets the new value.
    mutating func set(_ key: String, _ value: Reference) {
        let string = intern(key: key)
        let scope = scopes[scopes.count - 1].serial
        if strings[string].scope == scope {
            pairs[strings[string].slot].value = value
            return
        }
        if strings[string].scope != 0 {
            undos.append(Undo(string: string, scope: strings[string].scope, slot: strings[string].slot))
        }
        strings[string].scope = scope
        strings[string].slot = pairs.count
        pairs.append(KeyedReference(key: strings[string].reference, value: value))
    }

    /// Puts a value under the next of the scope's own keys `$0`, `$1`, ….
    mutating func setUnkeyed(_ value: Reference) {
        let number = scopes[scopes.count - 1].unkeyed
        scopes[scopes.count - 1].unkeyed += 1
        // These keys are not mangled, so that no user's key can meet them.
        let key = strings[intern("$\(number)")].reference
        pairs.append(KeyedReference(key: key, value: value))
    }

    // MARK: Objects

    /// Takes the next place in `$objects` for a container or for an object that is filled later.
    mutating func reserveObject() -> UID {
        objects.append(list.reserveContainer())
        return appended()
    }

    /// Takes the next place in `$objects`, which stays nil until `fill` is called.
    mutating func reserveNull() -> UID {
        objects.append(Self.null)
        return appended()
    }

    /// Gives a place that was reserved as nil a container to be filled.
    mutating func fill(_ uid: UID) {
        objects[Int(uid)] = list.reserveContainer()
    }

    /// Adds a scalar as an object of its own.
    mutating func addObject(_ scalar: Reference) -> UID {
        objects.append(scalar)
        return appended()
    }

    private mutating func appended() -> UID {
        uidReferences.append(0)
        return UID(truncatingIfNeeded: objects.count - 1)
    }

    /// The property-list object that refers to `uid`.
    mutating func reference(to uid: UID) -> Reference {
        let known = uidReferences[Int(uid)]
        // Reference 0 is the string `$null`, never a UID, so it can stand for "none yet".
        if known != 0 { return known }
        let made = list.add(uid: uid)
        uidReferences[Int(uid)] = made
        return made
    }

    /// An inline array of references to objects.
    mutating func array(_ members: [UID]) -> Reference {
        var references: [Reference] = []
        references.reserveCapacity(members.count)
        for uid in members { references.append(reference(to: uid)) }
        let made = list.reserveContainer()
        list.fillArray(made, references)
        return made
    }

    // MARK: Strings

    /// The object of a string, the same for equal strings: nobody can tell immutable strings apart.
    mutating func stringObject(_ text: String) -> UID {
        let index = intern(text)
        let known = strings[index].uid
        if known != 0 { return known }
        let uid = addObject(strings[index].reference)
        strings[index].uid = uid
        return uid
    }

    /// A string inline.
    mutating func string(_ text: String) -> Reference { strings[intern(text)].reference }

    private mutating func intern(key: String) -> Int {
        key.utf8.first == 0x24 ? intern("$" + key) : intern(key)
    }

    private mutating func intern(_ text: String) -> Int {
        var text = text
        let hash = text.withUTF8 { StringTable.hash($0) }
        if let index = strings.index(of: text, hash: hash) { return index }
        let reference =
            text.withUTF8 { Self.isASCII($0) ? list.add(ascii: $0) : nil } ?? list.add(utf16: text.utf16)
        return strings.add(text, hash: hash, reference: reference)
    }

    private mutating func add(_ text: StaticString) -> Reference {
        text.withUTF8Buffer { list.add(ascii: $0) }
    }

    private static func isASCII(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(utf8)
        var seen: UInt64 = 0
        var at = 0
        while at &+ 8 <= raw.count {
            seen |= raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            at &+= 8
        }
        while at < raw.count {
            seen |= UInt64(raw[at])
            at &+= 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    // MARK: Scalars

    mutating func scalar(_ value: Bool) -> Reference { list.add(value) }
    mutating func scalar(_ value: Int64) -> Reference { list.add(value) }
    mutating func scalar(_ value: UInt64) -> Reference { list.add(value) }
    mutating func scalar(_ value: Float) -> Reference { list.add(value) }
    mutating func scalar(_ value: Double) -> Reference { list.add(value) }
    mutating func scalar(_ value: UnsafeRawBufferPointer) -> Reference { list.add(data: value) }

    // MARK: Classes

    private mutating func classUID(_ info: ArchivedClass) -> UID {
        if classIndex.isEmpty {
            for known in classes where known.info === info { return known.uid }
        } else if let known = classIndex[ObjectIdentifier(info)] {
            return known
        }
        let uid = reserveObject()
        var names: [Reference] = []
        for name in info.chain { names.append(string(name)) }
        let chain = list.reserveContainer()
        list.fillArray(chain, names)
        let fields = [
            KeyedReference(key: string("$classname"), value: string(info.name)),
            KeyedReference(key: string("$classes"), value: chain),
        ]
        list.fillDictionary(objects[Int(uid)], fields[...])
        classes.append((info, uid))
        if !classIndex.isEmpty {
            classIndex[ObjectIdentifier(info)] = uid
        } else if classes.count > 8 {
            for known in classes { classIndex[ObjectIdentifier(known.info)] = known.uid }
        }
        return uid
    }

    // MARK: The end

    /// Ends the archive: `$top` is the outermost scope.
    mutating func finish() -> [UInt8] {
        let scope = popScope()
        let top = list.reserveContainer()
        list.fillDictionary(top, pairs[scope.base...])
        let table = list.reserveContainer()
        list.fillArray(table, objects)
        let root = list.reserveContainer()
        let fields = [
            KeyedReference(key: add("$version" as StaticString), value: list.add(100_000 as Int64)),
            KeyedReference(key: add("$archiver" as StaticString), value: string("NSKeyedArchiver")),
            KeyedReference(key: add("$top" as StaticString), value: top),
            KeyedReference(key: add("$objects" as StaticString), value: table),
        ]
        list.fillDictionary(root, fields[...])
        return list.finish(top: root)
    }
}

/// Objects that were referred to before they were complete, and references that are delivered when all objects are.
struct CyclicReferences {
    /// A reference to an object that is delivered when the graph is complete.
    struct WaitingReference {
        /// The place of the object that asked; `nil` for a caller outside all objects.
        let owner: UInt32?
        let reference: BinaryPropertyList.Reference
        let expected: ExpectedClasses
        let key: String
        let type: AnyClass
        /// Hands the object over; `false` if it is of another type.
        let deliver: (Any) -> Bool
    }

    #if canImport(Darwin)
        /// The objects that are in their `initWithCoder:`, each inside the one before.
        private var allocated: [(uid: UInt32, object: AnyObject)] = []
        /// Those of the allocated objects that their parts refer to, by UID.
        private var placeholders: [UInt32: AnyObject] = [:]
    #else
        private var placeholders: [UInt32: PlaceholderInstance] = [:]
    #endif
    private var waiting: [WaitingReference] = []
    /// The mutable collections that are decoding their members, each inside the one before.
    private var collections: [(uid: UInt32, object: AnyObject)] = []
    /// Collections that were referred to before they had all their members.
    private var handedOutCollections: Set<UInt32> = []
    /// Whether decoding is only a trial: then no object is put into the place of its placeholder, so that no
    /// reference cycle arises that no code could break.
    var isTrial = false

    /// Whether no object that is still being decoded was handed out.
    var isEmpty: Bool { placeholders.isEmpty }

    /// Whether nothing was noted.
    var isUnused: Bool {
        placeholders.isEmpty && waiting.isEmpty && collections.isEmpty && handedOutCollections.isEmpty && !isTrial
    }

    func isHandedOut(_ uid: UInt32) -> Bool {
        handedOutCollections.contains(uid) || placeholders[uid] != nil
    }

    // MARK: Collections

    mutating func open(_ collection: AnyObject, _ uid: UInt32) { collections.append((uid, collection)) }

    mutating func closeCollection() { collections.removeLast() }

    /// The collection of a place if it is decoding its members; from now on it counts as handed out.
    mutating func handOutCollection(_ uid: UInt32) -> AnyObject? {
        guard let found = collections.last(where: { $0.uid == uid })?.object else { return nil }
        handedOutCollections.insert(uid)
        return found
    }

    // MARK: Objects

    #if canImport(Darwin)
        var allocatedCount: Int { allocated.count }

        mutating func allocate(_ object: Any, _ uid: UInt32) { allocated.append((uid, object as AnyObject)) }

        mutating func release(downTo count: Int) { allocated.removeLast(allocated.count - count) }

        /// The object of a place if it is in its `initWithCoder:`; from now on it counts as handed out.
        mutating func handOutObject(_ uid: UInt32) -> AnyObject? {
            guard let found = allocated.last(where: { $0.uid == uid })?.object else { return nil }
            placeholders[uid] = found
            return found
        }

        /// Takes the object that was handed out for a place, once that is decoded.
        mutating func settle(_ uid: UInt32) -> AnyObject? { placeholders.removeValue(forKey: uid) }
    #else
        /// The placeholder that was handed out for an object.
        func placeholder(_ uid: UInt32) -> PlaceholderInstance? { placeholders[uid] }

        /// Makes a placeholder for an object of a class, which counts as handed out until it is settled.
        ///
        /// - Throws: `.cyclicReference` if the class has a stored property without an empty value.
        mutating func handOutPlaceholder(_ uid: UInt32, of cls: AnyClass) throws(ArchiveError) -> AnyObject {
            let made = try PlaceholderInstance(of: cls)
            placeholders[uid] = made
            return made.object
        }

        /// Forgets the placeholder of an object that is complete.
        mutating func settle(_ uid: UInt32) { placeholders[uid] = nil }
    #endif

    // MARK: Waiting references

    var isWaiting: Bool { !waiting.isEmpty }

    mutating func wait(_ reference: WaitingReference) { waiting.append(reference) }

    /// Takes the reference that was added last.
    mutating func nextWaiting() -> WaitingReference? { waiting.popLast() }

    /// Drops the waiting references of an object that failed to decode or was replaced.
    mutating func drop(_ owner: UInt32) {
        if isWaiting { waiting.removeAll { $0.owner == owner } }
    }
}

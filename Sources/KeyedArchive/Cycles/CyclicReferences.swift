import Foundation

/// Objects that were referred to before they were complete, and references that are delivered when all objects are.
struct CyclicReferences {
    #if canImport(Darwin)
        /// The objects that are in their `initWithCoder:`, each inside the one before.
        private var allocated: [(uid: UInt32, object: AnyObject)] = []
        /// Those of the allocated objects that their parts refer to, by UID.
        fileprivate var early: [UInt32: AnyObject] = [:]
    #else
        fileprivate var early: [UInt32: EarlyInstance] = [:]
    #endif
    fileprivate var waiting: [WaitingReference] = []
    /// The mutable collections that are decoding their members, each inside the one before.
    private var collections: [(uid: UInt32, object: AnyObject)] = []
    /// The depth of the object that is in its `init(coder:)`.
    var objectDepth = 0
    /// The object that is in its `init(coder:)`.
    var owner: UInt32?
    /// Collections that were referred to before they had all their members.
    private var handedOutCollections: Set<UInt32> = []
    /// Whether decoding is only a trial: then no object is put into the place of its early instance, so that no
    /// reference cycle arises that no code could break.
    var isTrial = false

    /// Whether no object that is still being decoded was handed out.
    var isEmpty: Bool { early.isEmpty }

    var isWaiting: Bool { !waiting.isEmpty }

    mutating func open(_ collection: AnyObject, _ uid: UInt32) { collections.append((uid, collection)) }

    mutating func closeCollection() { collections.removeLast() }

    fileprivate mutating func handOutCollection(_ uid: UInt32) -> AnyObject? {
        guard let found = collections.last(where: { $0.uid == uid })?.object else { return nil }
        handedOutCollections.insert(uid)
        return found
    }

    /// Drops the waiting references of an object that failed to decode or was replaced.
    mutating func drop(_ owner: UInt32) {
        if isWaiting { waiting.removeAll { $0.owner == owner } }
    }

    func isHandedOut(_ uid: UInt32) -> Bool {
        handedOutCollections.contains(uid) || early[uid] != nil
    }

    #if canImport(Darwin)
        var allocatedCount: Int { allocated.count }

        mutating func allocate(_ object: Any, _ uid: UInt32) { allocated.append((uid, object as AnyObject)) }

        mutating func release(downTo count: Int) { allocated.removeLast(allocated.count - count) }

        fileprivate mutating func handOutObject(_ uid: UInt32) -> AnyObject? {
            guard let found = allocated.last(where: { $0.uid == uid })?.object else { return nil }
            early[uid] = found
            return found
        }
    #endif
}

/// A reference to an object that is delivered when the graph is complete.
private struct WaitingReference {
    /// The object that asked; `nil` for a caller outside all objects.
    let owner: UInt32?
    let reference: BinaryPropertyList.Reference
    let expected: ExpectedClasses
    let key: String
    let type: AnyClass
    let deliver: (Any) -> Bool
}

extension KeyedUnarchiver {
    /// The instance that stands for an object that is still being decoded.
    func early(_ uid: UInt32, _ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any {
        // Handed only to an object, never to another collection: from collections that contain each other,
        // Foundation makes Swift ones without end as soon as a program looks into them.
        if depth == cycles.objectDepth, let collection = cycles.handOutCollection(uid) {
            return collection
        }
        #if canImport(Darwin)
            if let object = cycles.handOutObject(uid) { return object }
        #else
            if let known = cycles.early[uid] { return known.object }
            if case .dictionary(let fields) = try source.list.object(reference),
                case .coding(let type) = try resolvedClass(of: fields, at: reference), let cls = type as? AnyClass
            {
                let made = try EarlyInstance(of: cls)
                cycles.early[uid] = made
                return made.object
            }
        #endif
        throw ArchiveError(
            .cyclicReference,
            "object \(uid) contains itself",
            offset: try source.list.offset(of: reference)
        )
    }

    /// Completes the early instance of an object that was just decoded, if its parts refer to one.
    func complete(_ uid: UInt32, _ value: inout Any?) throws(ArchiveError) {
        #if canImport(Darwin)
            guard let early = cycles.early.removeValue(forKey: uid), !hasFailed else { return }
            guard let value, (value as AnyObject) === early else {
                throw ArchiveError(
                    .cyclicReference,
                    "the init(coder:) of \(ClassNames.name(of: type(of: early))) refused or returned another object, and its parts refer to it"
                )
            }
        #else
            guard let early = cycles.early[uid] else { return }
            // After an error no caller gets the graph. If `complete` throws, the object still counts as handed out.
            if !hasFailed { try early.complete(from: &value, isTrial: cycles.isTrial) }
            cycles.early[uid] = nil
        #endif
    }

    /// Notes an object that is to be decoded and handed over when the graph is complete.
    func wait<T: AnyObject>(for type: T.Type, forKey key: String, _ deliver: @escaping (T) -> Void) {
        var expected = expected
        expected.add(type)
        let waiting = attempt(key) { () throws(ArchiveError) -> WaitingReference? in
            guard let reference = try value(of: key), try resolve(reference) != nil else { return nil }
            return WaitingReference(
                owner: cycles.owner,
                reference: reference,
                expected: expected,
                key: key,
                type: type
            ) { object in
                guard let object = object as? T else { return false }
                deliver(object)
                return true
            }
        }
        if let waiting { cycles.waiting.append(waiting) }
    }

    /// Delivers the waiting references, once the graph is complete.
    func deliverReferences() {
        guard depth == 0 else { return }
        // The objects that are decoded here may add waiting references.
        while !hasFailed, let next = cycles.waiting.popLast() {
            let outer = expected
            expected = next.expected
            _ = attempt(next.key) { () throws(ArchiveError) -> Void? in
                guard let object = try object(at: next.reference) else { return nil }
                if !next.deliver(object) { throw mismatch(ClassNames.name(of: next.type), next.reference) }
                return ()
            }
            expected = outer
        }
    }

    /// Unarchives one object to see whether it can be done.
    ///
    /// - Throws: as `unarchivedObject(ofClass:from:)`.
    package static func check<T>(
        _ type: T.Type,
        allowing classes: [AnyClass],
        _ bytes: [UInt8]
    ) throws(ArchiveError) {
        _ = try unarchive(type, allowing: classes, from: bytes, isTrial: true)
    }
}

extension KeyedUnarchiver {
    /// The instance that stands for an object that is still being decoded.
    func placeholder(_ uid: UInt32, _ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any {
        // Handed only to an object, never to another collection: from collections that contain each other,
        // Foundation makes Swift ones without end as soon as a program looks into them.
        if nesting.depth == frame.depth, let collection = cycles.handOutCollection(uid) {
            return collection
        }
        #if canImport(Darwin)
            if let object = cycles.handOutObject(uid) { return object }
        #else
            if let known = cycles.placeholder(uid) { return known.object }
            if case .dictionary(let fields) = try source.list.object(reference),
                case .coding(let coding) = try resolvedClass(of: fields, at: reference), let cls = coding.cls
            {
                return try cycles.handOutPlaceholder(uid, of: cls)
            }
        #endif
        throw ArchiveError(
            .cyclicReference,
            "object \(uid) contains itself",
            offset: try source.list.offset(of: reference)
        )
    }

    /// Completes the placeholder of an object that was just decoded, if its parts refer to one.
    func complete(_ uid: UInt32, _ value: inout Any?) throws(ArchiveError) {
        #if canImport(Darwin)
            guard let placeholder = cycles.settle(uid), !hasFailed else { return }
            guard let value, (value as AnyObject) === placeholder else {
                throw ArchiveError(
                    .cyclicReference,
                    "the init(coder:) of \(ClassNames.name(of: type(of: placeholder))) refused or returned another object, and its parts refer to it"
                )
            }
        #else
            guard let placeholder = cycles.placeholder(uid) else { return }
            // After an error no caller gets the graph. If `complete` throws, the object still counts as handed out.
            if !hasFailed { try placeholder.complete(from: &value, isTrial: cycles.isTrial) }
            cycles.settle(uid)
        #endif
    }

    /// Notes an object that is to be decoded and handed over when the graph is complete.
    func wait<T: AnyObject>(for type: T.Type, forKey key: String, _ deliver: @escaping (T) -> Void) {
        var expected = classes.expected
        expected.add(type)
        let waiting = attempt(key) { () throws(ArchiveError) -> CyclicReferences.WaitingReference? in
            guard let reference = try value(of: key), try source.resolve(reference) != nil else { return nil }
            return CyclicReferences.WaitingReference(
                owner: frame.place,
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
        if let waiting { cycles.wait(waiting) }
    }

    /// Delivers the waiting references, once the graph is complete.
    func deliverReferences() {
        guard nesting.depth == 0 else { return }
        // The objects that are decoded here may add waiting references.
        while !hasFailed, let next = cycles.nextWaiting() {
            expecting(next.expected, allowsFoundationValues: true) {
                _ = attempt(next.key) { () throws(ArchiveError) -> Void? in
                    guard let object = try object(at: next.reference) else { return nil }
                    if !next.deliver(object) { throw mismatch(ClassNames.name(of: next.type), next.reference) }
                    return ()
                }
            }
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

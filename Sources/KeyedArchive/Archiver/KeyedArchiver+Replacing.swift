import Foundation

#if canImport(Darwin)
    import CCoding
#endif

// The replacement that is archived in an object's place: first the object is asked for one, then the delegate.

extension KeyedArchiver {
    /// Writes an object of a user's class, or the replacement that it asks for.
    func encode<T: NSObject & NSCoding>(object: T, as info: ArchivedClass) -> ArchiveWriter.UID {
        let found = writer.identities.find(object)
        if let found, !writer.identities[found].isReserved { return refer(to: found) }
        // A delegate was asked already, and the object before it. A replacement is not asked for another one.
        if !asksDelegate, replacing !== object {
            if let replacement = replacementUnderWay(of: object) { return uid(of: replacement) }
            guard let replacement = object.replacementObject(for: self) else { return 0 }
            if !isSame(replacement, object) {
                replacing = type(of: replacement) is AnyClass ? replacement as AnyObject : nil
                return encode(replacement, for: object, at: found) { uid(of: replacement) }
            }
        }
        guard enter() else { return 0 }
        defer { leave() }
        return fill(object, at: found) { uid in
            writer.pushScope()
            encodeFields(of: object)
            if hasFailed { return }
            let cls: AnyClass = object.classForKeyedArchiver ?? T.self
            writer.popObject(uid, class: cls == T.self ? info : .of(cls))
        }
    }

    /// Writes the replacement of an object, so that references to the object lead to the replacement.
    private func encode(
        _ replacement: Any,
        for object: AnyObject,
        at reserved: Int?,
        _ body: () -> ArchiveWriter.UID
    ) -> ArchiveWriter.UID {
        guard let reserved else {
            let instance = type(of: replacement) is AnyClass ? replacement as AnyObject : nil
            if let instance { replacementsUnderWay.append((object, instance)) }
            let uid = body()
            if instance != nil { replacementsUnderWay.removeLast() }
            if writer.identities.find(object) == nil { writer.identities.add(object, uid: uid, isReserved: false) }
            return uid
        }
        // There are references to its place already, so the replacement takes that if it is new.
        let place = writer.identities[reserved].uid
        writer.identities[reserved].isReserved = false
        if type(of: replacement) is AnyClass, writer.identities.find(replacement as AnyObject) == nil {
            writer.identities.add(replacement as AnyObject, uid: place, isReserved: true)
        }
        let uid = body()
        if uid != place { writer.fill(place, asIn: uid) }
        return uid
    }

    /// The replacement that is being written for an object, which a part of that replacement refers to.
    @inline(__always)
    private func replacementUnderWay(of object: AnyObject) -> AnyObject? {
        if replacementsUnderWay.isEmpty { return nil }
        return replacementsUnderWay.last { $0.object === object }?.replacement
    }

    /// Has an object encode itself; an exception of Objective-C's that it raises is recorded.
    @inline(__always)
    func encodeFields(of object: some NSCoding) {
        #if canImport(Darwin)
            if let raised = coding_encode(object, self) {
                record(ArchiveError(.encodingFailed, raised, in: "encode(with:)", of: type(of: object)))
            }
        #else
            object.encode(with: self)
        #endif
    }

    func askDelegate(about value: Any, _ handler: ArchiveHandler) -> ArchiveWriter.UID {
        let instance = type(of: value) is AnyClass ? value as AnyObject : nil
        let found = instance.flatMap { writer.identities.find($0) }
        if let found, !writer.identities[found].isReserved { return refer(to: found) }
        if let replacement = instance.flatMap(replacementUnderWay) {
            return ArchiveHandler.for(type(of: replacement)).encode(replacement, self)
        }
        guard let own = handler.replacement.map({ $0(value, self) }) ?? value,
            let delegate,
            let chosen = delegate.archiver(self, willEncode: own)
        else { return 0 }
        let isReplaced =
            instance.map { type(of: chosen) is AnyClass ? (chosen as AnyObject) !== $0 : true } ?? false
        let uid: ArchiveWriter.UID
        if isReplaced, let instance {
            delegate.archiver(self, willReplace: value, withObject: chosen)
            uid = encode(chosen, for: instance, at: found) {
                ArchiveHandler.for(type(of: chosen)).encode(chosen, self)
            }
        } else {
            uid = ArchiveHandler.for(type(of: chosen)).encode(chosen, self)
        }
        if !hasFailed { delegate.archiver(self, didEncode: chosen) }
        return uid
    }
}

/// Whether a value is this very object.
private func isSame(_ value: Any, _ object: AnyObject) -> Bool {
    func open<Content>(_ content: Content) -> Bool { reference(of: content) === object }
    return open(value)
}

import Foundation

extension KeyedArchiver {
    /// Fills an object's place with fields that need no scope.
    func fillObject(
        _ uid: ArchiveWriter.UID,
        as info: ArchivedClass,
        _ fields: [(String, ArchiveWriter.Reference)]
    ) {
        writer.pushScope()
        for (key, value) in fields { writer.set(key, value) }
        writer.popObject(uid, class: info)
    }

    /// Writes a value that is an object in the archive and has no identity here.
    func newObject(
        _ info: ArchivedClass,
        _ fields: (ArchiveWriter) -> [(String, ArchiveWriter.Reference)]
    ) -> ArchiveWriter.UID {
        let uid = writer.reserveObject()
        fillObject(uid, as: info, fields(writer))
        return uid
    }

    /// Writes an immutable object through the value that it stands for, once.
    func shared<T: AnyObject>(_ object: T, _ body: (T) -> ArchiveWriter.UID) -> ArchiveWriter.UID {
        guard let position = writer.identities.find(object) else {
            let uid = body(object)
            writer.identities.add(object, uid: uid, isReserved: false)
            return uid
        }
        let place = writer.identities[position].uid
        if writer.identities[position].isReserved {
            // Referred to only conditionally before: the place reserved then gets the object that is written now.
            writer.identities[position].isReserved = false
            writer.fill(place, asIn: body(object))
        }
        return place
    }

    // MARK: Collections

    /// Writes a collection that keeps its members under `NS.objects`.
    func collection(
        _ info: ArchivedClass,
        of object: AnyObject? = nil,
        _ body: (inout [ArchiveWriter.UID]) -> Void
    ) -> ArchiveWriter.UID {
        container(info, of: object) {
            var members: [ArchiveWriter.UID] = []
            body(&members)
            writer.set("NS.objects", writer.array(members))
        }
    }

    /// Writes a dictionary: all keys first, then all values.
    func dictionary(
        _ info: ArchivedClass,
        of object: AnyObject? = nil,
        _ body: (inout [ArchiveWriter.UID], inout [ArchiveWriter.UID]) -> Void
    ) -> ArchiveWriter.UID {
        container(info, of: object) {
            var keys: [ArchiveWriter.UID] = []
            var values: [ArchiveWriter.UID] = []
            body(&keys, &values)
            writer.set("NS.keys", writer.array(keys))
            writer.set("NS.objects", writer.array(values))
        }
    }

    /// Writes an object with a scope of its own; `object` is the one that it stands for, if there is one.
    func container(
        _ info: ArchivedClass,
        of object: AnyObject?,
        _ body: () -> Void
    ) -> ArchiveWriter.UID {
        if let object {
            if writer.identities.find(object) != nil { mayBeRefused = true }
            return encode(instance: object, as: info, body)
        }
        guard enter() else { return 0 }
        defer { leave() }
        let uid = writer.reserveObject()
        writer.pushScope()
        body()
        if !hasFailed { writer.popObject(uid, class: info) }
        return uid
    }
}

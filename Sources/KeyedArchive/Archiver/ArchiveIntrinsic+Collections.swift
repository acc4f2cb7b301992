import Foundation

/// A type that cannot be a set's member or a dictionary's key in an archive: its values hold other values, which may
/// take for ever to compare, or Foundation does not survive hashing them.
protocol ArchiveCollection: ArchiveIntrinsic {}

extension Array: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.collection(.of(NSArray.self)) { members in
            for element in self { members.append(archiver.member(element)) }
        }
    }
}

extension Set: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.collection(.of(NSSet.self)) { members in
            archiver.willHash(self.count)
            for element in self { members.append(archiver.hashed(element)) }
        }
    }
}

extension Dictionary: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.dictionary(.of(NSDictionary.self)) { keys, values in
            archiver.willHash(self.count)
            for key in self.keys { keys.append(archiver.hashed(key)) }
            for value in self.values { values.append(archiver.member(value)) }
        }
    }
}

extension AnyHashable: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.uid(of: base) }
}

extension NSArray: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let info = ArchivedClass.of(isMutable(self, NSMutableArray.self) ? NSMutableArray.self : NSArray.self)
        return archiver.collection(info, of: self) { members in
            for element in self { members.append(archiver.member(element)) }
        }
    }
}

extension NSSet: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if let counted = self as? NSCountedSet { return counted.archiveCounts(into: archiver) }
        let info = ArchivedClass.of(isMutable(self, NSMutableSet.self) ? NSMutableSet.self : NSSet.self)
        return archiver.collection(info, of: self) { members in
            archiver.willHash(self.count)
            for element in self { members.append(archiver.hashed(element)) }
        }
    }
}

extension NSDictionary: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let info = ArchivedClass.of(
            isMutable(self, NSMutableDictionary.self) ? NSMutableDictionary.self : NSDictionary.self
        )
        return archiver.dictionary(info, of: self) { keys, values in
            archiver.willHash(self.count)
            let entries = self.map { ($0.key, $0.value) }
            for entry in entries { keys.append(archiver.hashed(entry.0)) }
            for entry in entries { values.append(archiver.member(entry.1)) }
        }
    }
}

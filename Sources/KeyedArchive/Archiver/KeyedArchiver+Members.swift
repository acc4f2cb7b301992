import Foundation

/// Takes the values of a dictionary in an archive, one after another, without looking at their types.
package struct ArchivedMembers: ~Copyable {
    private let archiver: KeyedArchiver
    fileprivate var places: [ArchiveWriter.UID]

    fileprivate init(_ archiver: KeyedArchiver, keys: [String]) {
        self.archiver = archiver
        places = []
        places.reserveCapacity(keys.count)
    }

    package mutating func add(_ value: String) { places.append(archiver.string(value)) }
    package mutating func add(_ value: Bool) { places.append(value.archive(into: archiver)) }
    package mutating func add(_ value: Int64) { places.append(value.archive(into: archiver)) }
    package mutating func add(_ value: UInt64) { places.append(value.archive(into: archiver)) }
    package mutating func add(_ value: Double) { places.append(value.archive(into: archiver)) }
    /// Adds a value of any other type that can be archived.
    package mutating func add(other value: Any) { places.append(archiver.member(value)) }
}

extension KeyedArchiver {
    /// Writes a dictionary: all keys first, then all values, as that of a `Dictionary`, but in the order of `keys`.
    func dictionary(of keys: [String], _ values: (inout ArchivedMembers) -> Void) -> ArchiveWriter.UID {
        dictionary(.of(NSDictionary.self)) { keyPlaces, valuePlaces in
            willHash(keys.count)
            keyPlaces.reserveCapacity(keys.count)
            for key in keys { keyPlaces.append(string(key)) }
            var members = ArchivedMembers(self, keys: keys)
            values(&members)
            precondition(members.places.count == keys.count, "each key has one value")
            valuePlaces = members.places
        }
    }
}

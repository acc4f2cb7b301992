/// Which objects have a place in the archive already, by identity and never by equality.
///
/// Keeps each object alive, so that an address stands for one object as long as the table lives.
struct IdentityTable {
    struct Entry {
        let object: AnyObject
        let uid: UInt32
        /// Whether the object was met only conditionally, so that its place is still empty.
        var isReserved: Bool
    }

    private var entries: [Entry] = []
    private var index: [ObjectIdentifier: Int] = [:]
    private static let scanLimit = 8

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        if !index.isEmpty { index = [:] }
    }

    func find(_ object: AnyObject) -> Int? {
        if index.isEmpty { return entries.firstIndex { $0.object === object } }
        return index[ObjectIdentifier(object)]
    }

    subscript(position: Int) -> Entry {
        get { entries[position] }
        _modify { yield &entries[position] }
    }

    mutating func add(_ object: AnyObject, uid: UInt32, isReserved: Bool) {
        entries.append(Entry(object: object, uid: uid, isReserved: isReserved))
        if !index.isEmpty {
            index[ObjectIdentifier(object)] = entries.count - 1
        } else if entries.count > Self.scanLimit {
            for (position, entry) in entries.enumerated() { index[ObjectIdentifier(entry.object)] = position }
        }
    }
}

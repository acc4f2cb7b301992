import Foundation

/// The objects that are decoded, or are being decoded, by their place in the archive.
///
/// Counts the members of collections too. Collections that share their parts take little memory as long as they are
/// left alone. But to cast, compare or archive them takes as much work as if nothing were shared, and that may be
/// without end: so a part counts at each of its occurrences, and there is a limit.
///
/// Most archives hold few objects that need to be remembered, so these are found by a scan; from the ninth on
/// there is an index with a number per place.
struct ObjectTable {
    enum State {
        case unknown
        case inProgress
        case decodedNil
        // Not one case with an optional: that would be copied through the runtime, at 15 ns for each object.
        /// The object, and its size: 1, or for a collection 1 plus the sum of its members' sizes. More for values
        /// that a cast of a collection copies, see ``weight(of:)``.
        case decoded(Any, size: Int)
    }

    /// The places of the objects, in the order in which they were begun, and the state of each.
    private var places: [UInt32] = []
    private var states: [State] = []
    /// For each place 0 or the position of its object plus 1; empty while a scan is enough.
    private var index: [UInt32] = []
    private static let scanLimit = 8
    /// How many places the archive has.
    private var placeCount = 0
    /// The total size of the members of the innermost collection that were decoded so far.
    private var memberCount = 0
    private var memberLimit = 0

    /// Begins an archive.
    ///
    /// - Parameter memberLimit: how much a collection may hold.
    mutating func open(placeCount: Int, memberLimit: Int) {
        self.placeCount = placeCount
        self.memberLimit = memberLimit
        memberCount = 0
    }

    /// Forgets all objects, but keeps the memory.
    mutating func removeAll() {
        if index.isEmpty {
            // Not `removeAll`, which takes three times as long for a few.
            while !places.isEmpty { places.removeLast() }
            while !states.isEmpty { states.removeLast() }
        } else {
            places.removeAll(keepingCapacity: true)
            states.removeAll(keepingCapacity: true)
            index.removeAll(keepingCapacity: true)
        }
    }

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { 44 * states.capacity + 4 * index.capacity }

    // MARK: Objects

    /// Whether an object was decoded, or is being decoded.
    @inline(__always)
    func isKnown(_ uid: UInt32) -> Bool {
        guard let position = position(of: uid) else { return false }
        if case .unknown = states[position] { return false }
        return true
    }

    func state(of uid: UInt32) -> State {
        guard let position = position(of: uid) else { return .unknown }
        return states[position]
    }

    /// Notes that an object is being decoded, which may be a collection.
    ///
    /// - Returns: the size of the members of the collection around it, for `end` or `fail`.
    mutating func begin(_ uid: UInt32) -> Int {
        add(uid)
        let outer = memberCount
        memberCount = 0
        return outer
    }

    /// Notes that the object in progress is not a collection: however often it is referred to, it is never taken for
    /// several.
    mutating func forgetMembers() { memberCount = 0 }

    /// Notes the result of an object that is being decoded.
    mutating func end(_ uid: UInt32, _ value: Any, around outer: Int) {
        let size = memberCount + Self.weight(of: value)
        if let position = position(of: uid) { states[position] = .decoded(value, size: size) }
        memberCount = outer + size
    }

    /// How many members of a collection cost as much as this one, when the collection is cast to one of Foundation: there
    /// a value becomes an object, with a copy of its bytes for each reference.
    private static func weight(of value: Any) -> Int {
        if let data = content(of: value, as: Data.self) { return 1 + data.count / 100 }
        if let path = content(of: value, as: IndexPath.self) { return 2 + path.count / 12 }
        // Each cast parses it.
        return content(of: value, as: URL.self) == nil ? 1 : 10
    }

    /// Notes that an object that is being decoded turned out to be nil.
    mutating func end(nil uid: UInt32, around outer: Int) {
        if let position = position(of: uid) { states[position] = .decodedNil }
        memberCount = outer
    }

    /// Forgets an object that could not be decoded.
    mutating func fail(_ uid: UInt32, around outer: Int) {
        if let position = position(of: uid) { states[position] = .unknown }
        memberCount = outer
    }

    /// Notes a value without parts.
    mutating func note(leaf value: Any, in uid: UInt32) {
        add(uid)
        if let position = position(of: uid) { states[position] = .decoded(value, size: Self.weight(of: value)) }
    }

    /// Makes an object known that is still being decoded, so that its parts may lead back to it.
    mutating func note(_ object: Any, in uid: UInt32) {
        if let position = position(of: uid) { states[position] = .decoded(object, size: 1) }
    }

    private mutating func add(_ uid: UInt32) {
        if let position = position(of: uid) {
            states[position] = .inProgress
            return
        }
        places.append(uid)
        states.append(.inProgress)
        if !index.isEmpty {
            index[Int(uid)] = UInt32(places.count)
        } else if places.count > Self.scanLimit {
            index.append(contentsOf: repeatElement(0, count: placeCount))
            for (position, place) in places.enumerated() { index[Int(place)] = UInt32(position + 1) }
        }
    }

    @inline(__always)
    private func position(of uid: UInt32) -> Int? {
        guard !index.isEmpty else {
            // Backwards: the object that was begun last is ended first.
            return places.lastIndex(of: uid)
        }
        let position = index[Int(uid)]
        return position == 0 ? nil : Int(position) - 1
    }

    // MARK: Members of collections

    /// Counts the members of an object that is decoded already, in the innermost collection.
    mutating func countKnown(_ size: Int) {
        // Capped, so that it does not grow without end outside collections, where it is not checked.
        memberCount = min(memberCount + size, 2 * memberLimit)
    }

    /// Counts one more member of the innermost collection.
    ///
    /// - Throws: `.limitExceeded` if the collection holds too much.
    mutating func countMember() throws(ArchiveError) {
        memberCount &+= 1
        try checkMembers()
    }

    /// Checks that the innermost collection does not hold too much.
    func checkMembers() throws(ArchiveError) {
        if memberCount > memberLimit { throw DecodingBudget.overspent }
    }
}

/// The objects that were decoded, and those that are being decoded, by their place in the archive.
///
/// Most archives hold few objects that need to be remembered, so these are found by a scan; from the ninth on
/// there is an index with a number per place.
struct DecodedObjects {
    enum State {
        case unknown
        case inProgress
        case decodedNil
        // Not one case with an optional: that would be copied through the runtime, at 15 ns for each object.
        /// The object, and its size: 1, or for a collection 1 plus the sum of its members' sizes.
        case decoded(Any, size: Int)
    }

    /// The places of the objects, in the order in which they were begun, and the state of each.
    private var places: [UInt32] = []
    private var states: [State] = []
    /// For each place 0 or the position of its object plus 1; empty while a scan is enough.
    private var index: [UInt32] = []
    private static let scanLimit = 8

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { 44 * states.capacity + 4 * index.capacity }

    /// Forgets all objects, but keeps the memory.
    mutating func removeAll() {
        places.removeAll(keepingCapacity: true)
        states.removeAll(keepingCapacity: true)
        index.removeAll(keepingCapacity: true)
    }

    func state(of uid: UInt32) -> State {
        guard let position = position(of: uid) else { return .unknown }
        return states[position]
    }

    /// Notes that an object is being decoded.
    ///
    /// - Parameter count: how many places the archive has.
    mutating func begin(_ uid: UInt32, of count: Int) {
        if let position = position(of: uid) {
            states[position] = .inProgress
            return
        }
        places.append(uid)
        states.append(.inProgress)
        if !index.isEmpty {
            index[Int(uid)] = UInt32(places.count)
        } else if places.count > Self.scanLimit {
            index.append(contentsOf: repeatElement(0, count: count))
            for (position, place) in places.enumerated() { index[Int(place)] = UInt32(position + 1) }
        }
    }

    /// Notes the result of an object that is being decoded.
    ///
    /// - Parameter state: `.decoded` or `.decodedNil`.
    mutating func end(_ uid: UInt32, _ state: consuming State) {
        if let position = position(of: uid) { states[position] = state }
    }

    /// Forgets an object that could not be decoded.
    mutating func forget(_ uid: UInt32) {
        if let position = position(of: uid) { states[position] = .unknown }
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
}

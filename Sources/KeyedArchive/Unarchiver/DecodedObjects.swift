/// The objects that were decoded, and those that are being decoded, by their place in the archive.
///
/// Most archives hold few objects that need to be remembered, so these are found by a scan; from the ninth on
/// there is an index with a number per place.
struct DecodedObjects {
    enum State {
        case unknown
        case inProgress
        case decoded(Any?)
    }

    private var entries: [(uid: UInt32, state: State)] = []
    /// For each place 0 or the position of its entry plus 1; empty while a scan is enough.
    private var index: [UInt32] = []
    private static let scanLimit = 8

    /// How much memory it holds on to, roughly, in bytes.
    var footprint: Int { 48 * entries.capacity + 4 * index.capacity }

    mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        index.removeAll(keepingCapacity: true)
    }

    func state(of uid: UInt32) -> State {
        position(of: uid).map { entries[$0].state } ?? .unknown
    }

    /// Notes that an object is being decoded.
    ///
    /// - Parameter count: how many places the archive has.
    mutating func begin(_ uid: UInt32, of count: Int) {
        if let position = position(of: uid) {
            entries[position].state = .inProgress
            return
        }
        entries.append((uid, .inProgress))
        if !index.isEmpty {
            index[Int(uid)] = UInt32(entries.count)
        } else if entries.count > Self.scanLimit {
            index.append(contentsOf: repeatElement(0, count: count))
            for (position, entry) in entries.enumerated() { index[Int(entry.uid)] = UInt32(position + 1) }
        }
    }

    /// Notes what became of an object that is being decoded.
    mutating func end(_ uid: UInt32, _ value: Any?) {
        if let position = position(of: uid) { entries[position].state = .decoded(value) }
    }

    /// Forgets an object that could not be decoded.
    mutating func forget(_ uid: UInt32) {
        if let position = position(of: uid) { entries[position].state = .unknown }
    }

    private func position(of uid: UInt32) -> Int? {
        if index.isEmpty { return entries.lastIndex { $0.uid == uid } }
        let position = index[Int(uid)]
        return position == 0 ? nil : Int(position) - 1
    }
}

/// The objects that were decoded, and those that are being decoded, by their place in the archive.
///
/// Most archives hold few objects that need to be remembered, so these are found by a scan; from the ninth on
/// there is an index with a number per place.
struct DecodedObjects {
    enum State {
        case unknown
        case inProgress
        /// The object, and how much it holds: 1, or for a collection the sum of what its members hold, and 1.
        case decoded(Any?, size: Int)
    }

    private var entries: [(uid: UInt32, state: State)] = []
    /// For each place 0 or the position of its entry plus 1; empty while a scan is enough.
    private var index: [UInt32] = []
    private static let scanLimit = 8

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
            index = [UInt32](repeating: 0, count: count)
            for (position, entry) in entries.enumerated() { index[Int(entry.uid)] = UInt32(position + 1) }
        }
    }

    /// Notes what became of an object that is being decoded.
    mutating func end(_ uid: UInt32, _ value: Any?, size: Int = 1) {
        if let position = position(of: uid) { entries[position].state = .decoded(value, size: size) }
    }

    /// Forgets an object that could not be decoded.
    mutating func forget(_ uid: UInt32) {
        if let position = position(of: uid) { entries[position].state = .unknown }
    }

    private func position(of uid: UInt32) -> Int? {
        if index.isEmpty { return entries.firstIndex { $0.uid == uid } }
        let position = index[Int(uid)]
        return position == 0 ? nil : Int(position) - 1
    }
}

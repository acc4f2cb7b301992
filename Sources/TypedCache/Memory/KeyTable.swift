/// Values by key, of which there are mostly a few at a time: those are found by a scan. Only for many there is an index.
///
/// A dictionary takes longer for a few; and the first one in a process has the runtime look through all conformances for
/// that of its keys, which takes 360,000 instructions.
struct KeyTable<Value> {
    private var keys: [EntryKey] = []
    private var values: [Value] = []
    /// The positions of all keys; empty while a scan is enough.
    private var index: [EntryKey: Int] = [:]
    private static var scanLimit: Int { 32 }

    var isEmpty: Bool { keys.isEmpty }

    /// Where the value of a key is, until the table changes; `nil` if there is none.
    func position(of key: EntryKey) -> Int? {
        if !index.isEmpty { return index[key] }
        // Backwards: the entry that was added last is mostly removed first.
        var position = keys.count - 1
        while position >= 0 {
            if keys[position].hash == key.hash, keys[position] == key { return position }
            position -= 1
        }
        return nil
    }

    /// Where the value of a key is; that is `value` if there was none.
    mutating func position(of key: EntryKey, adding value: @autoclosure () -> Value) -> Int {
        if let position = position(of: key) { return position }
        keys.append(key)
        values.append(value())
        let position = keys.count - 1
        if !index.isEmpty {
            index[key] = position
        } else if keys.count > Self.scanLimit {
            for (position, key) in keys.enumerated() { index[key] = position }
        }
        return position
    }

    /// - Precondition: the position is that of a key.
    subscript(position: Int) -> Value {
        get { values[position] }
        _modify { yield &values[position] }
    }

    /// Removes a key. The last one takes its position.
    mutating func remove(at position: Int) {
        let last = keys.count - 1
        if !index.isEmpty {
            index[keys[position]] = nil
            if position != last { index[keys[last]] = position }
        }
        if position != last {
            keys.swapAt(position, last)
            values.swapAt(position, last)
        }
        keys.removeLast()
        values.removeLast()
        // Gives back the memory that many keys took.
        if keys.isEmpty, keys.capacity > 2 * Self.scanLimit { self = KeyTable() }
    }

    /// Whether each key has its own position: for tests.
    var isSound: Bool {
        keys.count == values.count && keys.indices.allSatisfy { position(of: keys[$0]) == $0 }
            && (index.isEmpty || index.count == keys.count)
    }
}

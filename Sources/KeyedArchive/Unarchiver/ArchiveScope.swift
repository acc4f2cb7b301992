/// The keys of one object while it is decoded.
///
/// Objects are mostly decoded in the order in which they were encoded, so the search for a key begins after the
/// key that was found last, and ends there mostly.
struct ArchiveScope {
    let fields: BinaryPropertyList.Fields
    private var cursor = 0
    /// The number of the next unkeyed value.
    private var unkeyed = 0
    /// The heads of all keys, made once a key is not the next one; `nil` before.
    private var heads: KeyHeads?
    /// The positions of all keys, made once a large object is not read in order.
    private var index: [StoredKey: Int]?

    /// The most keys that are searched one by one.
    static let scanLimit = 64
    /// An index of keys costs as much for each of them as so many steps of a search.
    static let indexSteps = 16
    private static let indexedKeyLength = 256

    init(_ fields: BinaryPropertyList.Fields) { self.fields = fields }

    /// The value of a key as the user gave it, if that is surely the next one; `nil` leaves the question open.
    @inline(__always)
    mutating func next(_ key: String, in list: BinaryPropertyList) -> BinaryPropertyList.Reference? {
        let last = cursor
        guard last < fields.count, list.isKey(key, at: last, of: fields) else { return nil }
        cursor = last &+ 1
        return list.value(fields, last)
    }

    /// The value of a key as the user gave it, or `nil`.
    ///
    /// - Parameter order: where the keys of other objects were found.
    mutating func value(
        of key: String,
        in list: BinaryPropertyList,
        _ order: inout KeyOrder
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if let next = next(key, in: list) { return next }
        let last = cursor
        let guess = order.position(after: last, of: fields.count)
        if guess != last, guess < fields.count, list.isKey(key, at: guess, of: fields) {
            cursor = guess + 1
            return list.value(fields, guess)
        }
        let heads = heads ?? list.heads(of: fields)
        self.heads = heads
        if !heads.mayHold(key) { return nil }
        guard let value = try stored(key.utf8.first == 0x24 ? "$" + key : key, in: list) else { return nil }
        order.note(cursor - 1, after: last, of: fields.count)
        return value
    }

    /// The value of a key as the user gave it, or `nil`.
    mutating func value(
        of key: String,
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if let next = next(key, in: list) { return next }
        return try stored(key.utf8.first == 0x24 ? "$" + key : key, in: list)
    }

    /// The next value that was encoded without a key, or `nil`.
    mutating func nextUnkeyed(
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        defer { unkeyed += 1 }
        return try stored("$\(unkeyed)", in: list)
    }

    /// The value of a key as it stands in the archive, or `nil`.
    mutating func stored(
        _ key: String,
        in list: BinaryPropertyList
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        let count = fields.count
        var text = key
        if count <= Self.scanLimit {
            let outcome = text.withUTF8 { [fields, cursor] in list.search(for: $0, in: fields, from: cursor) }
            switch outcome {
            case .found(let position):
                cursor = position + 1
                return list.value(fields, position)
            case .absent: return nil
            case .open: break
            }
        }
        let isIndexed = count > Self.scanLimit && key.utf8.count < Self.indexedKeyLength
        let found: Result<Int?, ArchiveError> = text.withUTF8 { [fields, cursor] utf8 in
            Result { () throws(ArchiveError) in
                try list.position(of: utf8, in: fields, from: cursor, steps: isIndexed ? 1 : count)
            }
        }
        var position = try found.get()
        if position == nil, isIndexed { position = try look(up: key, in: list) }
        guard let position else { return nil }
        cursor = position + 1
        return list.value(fields, position)
    }

    private mutating func look(up key: String, in list: BinaryPropertyList) throws(ArchiveError) -> Int? {
        if index == nil {
            var made: [StoredKey: Int] = [:]
            for position in (0..<fields.count).reversed() {
                if let text = try list.shortString(list.key(fields, position), below: Self.indexedKeyLength) {
                    made[StoredKey(text: text)] = position
                }
            }
            index = made
        }
        return index?[StoredKey(text: key)]
    }

    /// A key, equal to others of the same bytes only: strings are equal where composed and decomposed letters differ.
    private struct StoredKey: Hashable {
        let text: String

        static func == (left: StoredKey, right: StoredKey) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }
}

/// Where keys were found in the objects before: those of a class are read in the same order each time, though
/// perhaps in another one than they were written.
///
/// These are guesses, which objects of other classes may spoil. They begin again with each archive, so that an
/// archive is always read in the same way.
struct KeyOrder {
    /// Where the search ended, plus 1, by where it began and how many keys there are; 0 for nowhere yet.
    private var positions = SIMD64<UInt8>()

    /// The position to look at first.
    @inline(__always)
    func position(after last: Int, of count: Int) -> Int {
        let known = positions[slot(last, count)]
        return known == 0 ? last : Int(known) &- 1
    }

    mutating func note(_ position: Int, after last: Int, of count: Int) {
        if position < 255 { positions[slot(last, count)] = UInt8(position + 1) }
    }

    @inline(__always)
    private func slot(_ last: Int, _ count: Int) -> Int { (last &+ 13 &* count) & 63 }
}

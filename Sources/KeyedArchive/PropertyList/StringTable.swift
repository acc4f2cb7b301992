/// The strings of an archive that is being written, each once.
///
/// Compares UTF-8 bytes, never canonical equivalence: two keys that differ in a byte are two keys.
struct StringTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        let hash: UInt64
        /// Where the string's bytes begin in `texts`.
        let start: Int
        let length: Int
        /// The string's object in the property list.
        let reference: BinaryPropertyListWriter.Reference
        /// The string's place in `$objects`; 0 while it is used as a key only.
        var uid: UInt32 = 0
        /// The scope that used this string as a key last, and where in the scope stack its value stands.
        var scope: UInt32 = 0
        var slot: Int = 0
    }

    private var entries = RawBuffer<Entry>(capacity: 32)
    private var texts = RawBuffer<UInt8>(capacity: 512)
    /// Entry index + 1 by hash, 0 for empty; unused while the table is so small that a scan is faster.
    private var buckets: [UInt32] = []
    private static let scanLimit = 16

    subscript(index: Int) -> Entry {
        get { entries[index] }
        set { entries[index] = newValue }
    }

    mutating func reset() {
        entries.truncate(to: 0)
        texts.truncate(to: 0)
        if !buckets.isEmpty { buckets = [] }
    }

    /// The entry of a string whose bytes are `text`, or `nil`.
    func index(of text: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Int? {
        if buckets.isEmpty {
            for index in 0..<entries.count where entries[index].hash == hash {
                if holds(index, text) { return index }
            }
            return nil
        }
        let mask = buckets.count &- 1
        var at = Int(truncatingIfNeeded: hash) & mask
        while buckets[at] != 0 {
            let index = Int(buckets[at]) &- 1
            if entries[index].hash == hash, holds(index, text) { return index }
            at = (at &+ 1) & mask
        }
        return nil
    }

    private func holds(_ index: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entries[index]
        guard entry.length == text.count else { return false }
        return texts.withElements { texts in
            haveSameBytes(UnsafeBufferPointer(rebasing: texts[entry.start..<entry.start + entry.length]), text)
        }
    }

    /// Adds a string that is not there yet.
    mutating func add(
        _ text: UnsafeBufferPointer<UInt8>,
        hash: UInt64,
        reference: BinaryPropertyListWriter.Reference
    ) -> Int {
        entries.append(Entry(hash: hash, start: texts.count, length: text.count, reference: reference))
        texts.append(contentsOf: text)
        let index = entries.count - 1
        if buckets.isEmpty {
            if entries.count > Self.scanLimit { rehash(to: 64) }
        } else if entries.count * 2 > buckets.count {
            rehash(to: buckets.count * 2)
        } else {
            insert(index)
        }
        return index
    }

    private mutating func rehash(to count: Int) {
        buckets = [UInt32](repeating: 0, count: count)
        for index in 0..<entries.count { insert(index) }
    }

    private mutating func insert(_ index: Int) {
        let mask = buckets.count &- 1
        var at = Int(truncatingIfNeeded: entries[index].hash) & mask
        while buckets[at] != 0 { at = (at &+ 1) & mask }
        buckets[at] = UInt32(index + 1)
    }

    /// Mixed so that names from outside cannot be chosen to collide: the seed differs from process to process.
    static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash = seed ^ UInt64(truncatingIfNeeded: text.count)
        let raw = UnsafeRawBufferPointer(text)
        var at = 0
        while at &+ 8 <= raw.count {
            hash = mix(hash ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        var tail: UInt64 = 0
        while at < raw.count {
            tail = tail << 8 | UInt64(raw[at])
            at &+= 1
        }
        return mix(hash ^ tail)
    }

    private static let seed = UInt64.random(in: .min ... .max)

    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}

/// The strings of an archive that is being written, each once.
///
/// Compares UTF-8 bytes, never canonical equivalence: two keys that differ in a byte are two keys.
struct StringTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        let hash: UInt64
        /// Where the string's bytes begin: in the property list if they are ASCII, else in `texts`.
        let start: Int
        let length: Int
        let isASCII: Bool
        /// The string's object in the property list.
        let reference: BinaryPropertyListWriter.Reference
        /// The string's place in `$objects`; 0 while it is used as a key only.
        var uid: UInt32 = 0
        /// The entry of the key that was written after this one, plus 1; 0 if there was none yet.
        var next: UInt32 = 0
        /// The scope that used this string as a key last, and where in the scope stack its value stands.
        var scope: UInt32 = 0
        var slot: Int = 0
    }

    private var entries = RawBuffer<Entry>(capacity: 32)
    /// The UTF-8 bytes of strings that the property list has as UTF-16.
    private var texts = RawBuffer<UInt8>(capacity: 64)
    /// Entry index + 1 by hash, 0 for empty; a power of two of them, at least twice as many as entries.
    private var buckets = RawBuffer<UInt32>(capacity: 64)
    private let seed = UInt64.random(in: .min ... .max)

    subscript(index: Int) -> Entry {
        @inline(__always) get { entries[index] }
        @inline(__always) set { entries[index] = newValue }
    }

    init() { buckets.append(repeating: 0, count: 64) }

    mutating func reset() {
        entries.truncate(to: 0)
        texts.truncate(to: 0)
        rehash(to: 64)
    }

    /// The entry of a string whose bytes are `text`, or `nil`.
    ///
    /// - Parameter output: the property list's bytes.
    func index(
        of text: UnsafeBufferPointer<UInt8>,
        hash: UInt64,
        in output: borrowing RawBuffer<UInt8>
    ) -> Int? {
        let mask = buckets.count &- 1
        var at = Int(truncatingIfNeeded: hash) & mask
        while buckets[at] != 0 {
            let index = Int(buckets[at]) &- 1
            if entries[index].hash == hash, holds(index, text, in: output) { return index }
            at = (at &+ 1) & mask
        }
        return nil
    }

    /// Whether the bytes of an entry's string are `text`.
    @inline(__always)
    func holds(_ index: Int, _ text: UnsafeBufferPointer<UInt8>, in output: borrowing RawBuffer<UInt8>) -> Bool {
        let entry = entries[index]
        guard entry.length == text.count else { return false }
        return entry.isASCII ? output.holds(text, at: entry.start) : texts.holds(text, at: entry.start)
    }

    /// Adds a string that is not there yet, after it was written.
    mutating func add(
        _ text: UnsafeBufferPointer<UInt8>,
        hash: UInt64,
        isASCII: Bool,
        reference: BinaryPropertyListWriter.Reference,
        in output: borrowing RawBuffer<UInt8>
    ) -> Int {
        entries.append(
            Entry(
                hash: hash,
                start: isASCII ? output.count &- text.count : texts.count,
                length: text.count,
                isASCII: isASCII,
                reference: reference
            )
        )
        if !isASCII { texts.append(contentsOf: text) }
        let index = entries.count &- 1
        if entries.count * 2 > buckets.count {
            rehash(to: buckets.count * 2)
        } else {
            insert(index)
        }
        return index
    }

    private mutating func rehash(to count: Int) {
        buckets.truncate(to: 0)
        buckets.append(repeating: 0, count: count)
        for index in 0..<entries.count { insert(index) }
    }

    private mutating func insert(_ index: Int) {
        let mask = buckets.count &- 1
        var at = Int(truncatingIfNeeded: entries[index].hash) & mask
        while buckets[at] != 0 { at = (at &+ 1) & mask }
        buckets[at] = UInt32(index + 1)
    }

    /// A hash of some text, and whether it is all ASCII.
    ///
    /// Mixed so that names from outside cannot be chosen to collide: each table has a seed of its own.
    /// Eight bytes at a time; the last eight may overlap those before.
    ///
    /// Why the loads are safe: each ends at or before the last byte, as the conditions say.
    @inline(__always)
    func digest(_ text: UnsafeBufferPointer<UInt8>) -> (hash: UInt64, isASCII: Bool) {
        let raw = UnsafeRawBufferPointer(text)
        let count = raw.count
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        var seen: UInt64 = 0
        if count >= 8 {
            var at = 0
            while at &+ 8 < count {
                let word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                seen |= word
                hash = Self.mix(hash ^ word)
                at &+= 8
            }
            let last = raw.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            seen |= last
            hash = Self.mix(hash ^ last)
        } else if count >= 4 {
            let first = UInt64(raw.loadUnaligned(fromByteOffset: 0, as: UInt32.self))
            let last = UInt64(raw.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
            seen = first | last
            hash = Self.mix(hash ^ (first << 32 | last))
        } else {
            for byte in raw { seen = seen << 8 | UInt64(byte) }
            hash = Self.mix(hash ^ seen)
        }
        return (hash, seen & 0x8080_8080_8080_8080 == 0)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}

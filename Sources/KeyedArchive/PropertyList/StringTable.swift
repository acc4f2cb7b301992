/// The strings of an archive that is being written, each once.
///
/// Compares UTF-8 bytes, never canonical equivalence: two keys that differ in a byte are two keys.
///
/// A table of its own: a dictionary would compare its keys as Swift's strings do, and copy each one; here the bytes
/// stand in the property list that is being written, and a hash is computed in one pass that finds ASCII too.
struct StringTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        /// Where the string's bytes begin: in a section of the property list if they are ASCII, else in `texts`.
        let start: Int
        let length: Int
        /// The section of the property list that has the bytes; `nil` if `texts` has them.
        let section: BinaryPropertyListWriter.Section?
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
    /// By hash: the hash, and the entry's index + 1 in the low half; 0 for empty. A power of two of them, at least
    /// twice as many as entries. Large tables are slow by the memory that they touch: by the hash here, a search
    /// mostly passes over other strings, or ends without a match, without looking at entries.
    private var buckets = RawBuffer<UInt64>(capacity: 64)
    private let seed = UInt64.random(in: .min ... .max)

    subscript(index: Int) -> Entry {
        @inline(__always) get { entries[index] }
        @inline(__always) set { entries[index] = newValue }
    }

    init() { buckets.append(repeating: 0, count: 64) }

    mutating func reset() {
        entries.truncate(to: 0)
        texts.truncate(to: 0)
        buckets.truncate(to: 0)
        buckets.append(repeating: 0, count: 64)
    }

    /// The index of the entry of the string with the bytes `text`, or `nil`.
    ///
    /// - Parameter list: the property list that the strings were added to. It is not changed: a class's property that is
    ///   borrowed is copied first, all 160 bytes, and one that is `inout` is not.
    func index(
        of text: UnsafeBufferPointer<UInt8>,
        hash: UInt32,
        in list: inout BinaryPropertyListWriter
    ) -> Int? {
        let mask = buckets.count &- 1
        var at = Int(hash) & mask
        while buckets[at] != 0 {
            let bucket = buckets[at]
            if bucket >> 32 == UInt64(hash) {
                let index = Int(bucket & 0xFFFF_FFFF) &- 1
                if holds(index, text, in: &list) { return index }
            }
            at = (at &+ 1) & mask
        }
        return nil
    }

    /// Whether the bytes of an entry's string are `text`.
    @inline(__always)
    func holds(_ index: Int, _ text: UnsafeBufferPointer<UInt8>, in list: inout BinaryPropertyListWriter)
        -> Bool
    {
        let entry = entries[index]
        guard entry.length == text.count else { return false }
        guard let section = entry.section else { return texts.holds(text, at: entry.start) }
        return list.holds(text, at: entry.start, of: section)
    }

    /// Adds a string that is not there yet, right after it was added to the property list.
    mutating func add(
        _ text: UnsafeBufferPointer<UInt8>,
        hash: UInt32,
        isASCII: Bool,
        reference: BinaryPropertyListWriter.Reference,
        in list: inout BinaryPropertyListWriter
    ) -> Int {
        if isASCII {
            let (section, end) = list.end(of: reference)
            let start = end &- text.count
            entries.append(Entry(start: start, length: text.count, section: section, reference: reference))
        } else {
            entries.append(Entry(start: texts.count, length: text.count, section: nil, reference: reference))
            texts.append(contentsOf: text)
        }
        if entries.count * 2 > buckets.count { grow() }
        insert(UInt64(hash) << 32 | UInt64(entries.count))
        return entries.count &- 1
    }

    private mutating func insert(_ bucket: UInt64) {
        let mask = buckets.count &- 1
        var at = Int(bucket >> 32) & mask
        while buckets[at] != 0 { at = (at &+ 1) & mask }
        buckets[at] = bucket
    }

    private mutating func grow() {
        var larger = RawBuffer<UInt64>(capacity: 2 * buckets.count)
        larger.append(repeating: 0, count: 2 * buckets.count)
        swap(&larger, &buckets)
        for index in 0..<larger.count where larger[index] != 0 { insert(larger[index]) }
    }

    /// Checks the table: a search comes past each string's bucket, and ends for every other string.
    func holdsTogether() -> Bool {
        let mask = buckets.count - 1
        guard buckets.count & mask == 0, buckets.count >= 2 * entries.count else { return false }
        var seen: Set<Int> = []
        for bucket in 0..<buckets.count where buckets[bucket] != 0 {
            let index = Int(buckets[bucket] & 0xFFFF_FFFF) - 1
            guard index >= 0, index < entries.count, seen.insert(index).inserted else { return false }
            var at = Int(buckets[bucket] >> 32) & mask
            while at != bucket {
                if buckets[at] == 0 { return false }
                at = (at + 1) & mask
            }
        }
        return seen.count == entries.count
    }

    /// A hash of some text, and whether it is all ASCII.
    ///
    /// Mixed so that names from outside cannot be chosen to collide: each table has a seed of its own.
    /// Eight bytes at a time; the last eight may overlap those before.
    ///
    /// Why the loads are safe: each ends at or before the last byte, as the conditions say.
    @inline(__always)
    func digest(_ text: UnsafeBufferPointer<UInt8>) -> (hash: UInt32, isASCII: Bool) {
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
        return (UInt32(truncatingIfNeeded: hash), seen & 0x8080_8080_8080_8080 == 0)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return high ^ low
    }
}

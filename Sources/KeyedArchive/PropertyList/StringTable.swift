/// The strings of an archive that is being written, each once.
///
/// Compares UTF-8 bytes, never canonical equivalence: two keys that differ in a byte are two keys.
///
/// A table of its own: a dictionary would compare its keys as Swift's strings do, and copy each one; here the bytes
/// stand in the property list that is being written, and a hash is computed in one pass that finds ASCII too.
///
/// Names of keys and classes are mostly the same in every archive, so their entries are kept for the next one, with
/// copies of their bytes. A kept entry is present in an archive once the archive has its string.
struct StringTable: ~Copyable {
    struct Entry: BitwiseCopyable {
        /// Where the string's bytes begin: in a section of the property list, or in `texts`.
        let start: Int
        let length: Int
        /// The section of the property list that has the bytes; `nil` if `texts` has them.
        let section: BinaryPropertyListWriter.Section?
        /// Whether the entry is kept for the next archive.
        let isKept: Bool
        fileprivate let hash: UInt32
        /// The archive for which the fields below hold, but `next`.
        fileprivate var archive: UInt32
        /// The string's object in the property list.
        var reference: BinaryPropertyListWriter.Reference
        /// The string's place in `$objects`; 0 while it is used as a key only.
        var uid: UInt32 = 0
        /// The entry of the name that was written after this one, plus 1; 0 if there was none yet. A guess: the entry may
        /// be another one by now, or gone.
        var next: UInt32 = 0
        /// The scope that used this string as a key last, and where in the scope stack its value stands.
        var scope: UInt32 = 0
        var slot: Int = 0
    }

    /// How many entries are kept, and how long their names may be: a program has hundreds of keys, but the keys of a
    /// dictionary may be without end.
    private static let keptLimit = 1_024
    private static let keptLength = 64

    private var entries = RawBuffer<Entry>(capacity: 32)
    /// The UTF-8 bytes of kept names, and of strings that the property list has as UTF-16.
    private var texts = RawBuffer<UInt8>(capacity: 64)
    /// By hash: the hash, and the entry's index + 1 in the low half; 0 for empty. A power of two of them, at least
    /// twice as many as entries. Large tables are slow by the memory that they touch: by the hash here, a search
    /// mostly passes over other strings, or ends without a match, without looking at entries.
    private var buckets = RawBuffer<UInt64>(capacity: 64)
    private let seed = UInt64.random(in: .min ... .max)
    /// How many of the entries, the first ones, were kept from archives before.
    private var keptCount = 0
    /// Tells this archive from those before.
    private var archive: UInt32 = 1

    subscript(index: Int) -> Entry {
        @inline(__always) get { entries[index] }
        @inline(__always) _modify { yield &entries[index] }
    }

    init() { buckets.append(repeating: 0, count: 64) }

    /// How much memory the table of hashes takes, in bytes.
    var footprint: Int { 8 * buckets.capacity }

    /// Begins the next archive, before the property list is reset; names are kept.
    mutating func reset() {
        archive &+= 1
        if entries.count > keptCount { forgetUnkept() }
        if keptCount > Self.keptLimit || archive == 0 {
            entries.truncate(to: 0)
            texts.truncate(to: 0)
            let count = buckets.count
            buckets.truncate(to: 0)
            buckets.append(repeating: 0, count: count)
            keptCount = 0
            archive = 1
        }
    }

    /// Takes out the entries of this archive, but for those to keep, which then stand after those kept before.
    private mutating func forgetUnkept() {
        let (first, end) = (keptCount, entries.count)
        // From the last one back: no search for another entry came past one that was inserted later.
        for index in (first..<end).reversed() { remove(index) }
        var textEnd = first == 0 ? 0 : entries[first &- 1].start &+ entries[first &- 1].length
        for index in first..<end where entries[index].isKept {
            let entry = entries[index]
            entries[keptCount] = entry
            keptCount &+= 1
            insert(UInt64(entry.hash) << 32 | UInt64(keptCount))
            textEnd = entry.start &+ entry.length
        }
        entries.truncate(to: keptCount)
        texts.truncate(to: textEnd)
    }

    private mutating func remove(_ index: Int) {
        let mask = buckets.count &- 1
        var at = Int(entries[index].hash) & mask
        while buckets[at] & 0xFFFF_FFFF != UInt64(index &+ 1) { at = (at &+ 1) & mask }
        buckets[at] = 0
    }

    // MARK: Names

    /// Whether the archive has the string of an entry.
    @inline(__always)
    func isPresent(_ index: Int) -> Bool { entries[index].archive == archive }

    /// Notes that the string of a kept entry was added to the property list.
    @inline(__always)
    mutating func present(_ index: Int, as reference: BinaryPropertyListWriter.Reference) {
        entries[index].archive = archive
        entries[index].reference = reference
        entries[index].uid = 0
        entries[index].scope = 0
    }

    /// The entry of the name that followed another one when that was written last, if it is `text`.
    @inline(__always)
    func follower(
        of last: Int?,
        if text: UnsafeBufferPointer<UInt8>,
        in list: inout BinaryPropertyListWriter
    ) -> Int? {
        guard let last, last < entries.count else { return nil }
        let guess = Int(entries[last].next) &- 1
        return guess >= 0 && holds(guess, text, in: &list) ? guess : nil
    }

    /// Notes that a name was written after another one.
    mutating func follow(_ last: Int?, with index: Int) {
        if let last, last < entries.count { entries[last].next = UInt32(truncatingIfNeeded: index &+ 1) }
    }

    // MARK: Strings

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

    /// Whether there is an entry with this index, and the bytes of its string are `text`.
    @inline(__always)
    func holds(_ index: Int, _ text: UnsafeBufferPointer<UInt8>, in list: inout BinaryPropertyListWriter)
        -> Bool
    {
        guard index < entries.count, entries[index].length == text.count else { return false }
        let start = entries[index].start
        guard let section = entries[index].section else { return texts.holds(text, at: start) }
        return list.holds(text, at: start, of: section)
    }

    /// Adds a string that is not there yet, right after it was added to the property list.
    ///
    /// - Parameter isName: whether the string is likely to be in the next archive too.
    mutating func add(
        _ text: UnsafeBufferPointer<UInt8>,
        hash: UInt32,
        isASCII: Bool,
        isName: Bool = false,
        reference: BinaryPropertyListWriter.Reference,
        in list: inout BinaryPropertyListWriter
    ) -> Int {
        let isKept = isName && isASCII && text.count <= Self.keptLength
        var start = texts.count
        var section: BinaryPropertyListWriter.Section?
        if isASCII, !isKept {
            let (found, end) = list.end(of: reference)
            section = found
            start = end &- text.count
        } else {
            texts.append(contentsOf: text)
        }
        entries.append(
            Entry(
                start: start,
                length: text.count,
                section: section,
                isKept: isKept,
                hash: hash,
                archive: archive,
                reference: reference
            )
        )
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
        let count = 2 * buckets.count
        buckets.truncate(to: 0)
        buckets.append(repeating: 0, count: count)
        // In the order of the entries, on which `forgetUnkept` relies; the new one is inserted by `add`.
        for index in 0..<entries.count &- 1 { insert(UInt64(entries[index].hash) << 32 | UInt64(index &+ 1)) }
    }

    /// For tests, checks the table: a search comes past each string's bucket, and ends for every other string.
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

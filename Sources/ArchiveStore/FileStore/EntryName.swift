/// Where the entries of some keys are: 32 hexadecimal digits, of which the first two name the shard, and a
/// slot.
///
///     <directory>/a3/817f04ba25a8e66df67214c7550293.0
///                 │  └ 30 digits                    └ slot
///                 └ shard
///
/// The digits are the SipHash-2-4-128 of the key's bytes, in an encrypted store with a secret key: see ``NameKeys``. Keys
/// that share a name have slots 0, 1, 2 and so on, without gaps.
struct EntryName: Hashable {
    static let shardCount = 256
    /// The length of ``write(to:)``.
    static let byteCount = 16
    /// A file with a larger slot is not an entry.
    static let largestSlot = 0xFFFF

    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The name that a key has in a store that is not encrypted.
    init(_ key: StoreKey) {
        self.init(hashing: key.bytes)
    }

    /// The name for the UTF-8 bytes of a key, or of a tag.
    init(hashing bytes: [UInt8]) { self.init(SipHash128(bytes)) }

    init(_ hash: SipHash128) { self.init(high: hash.high, low: hash.low) }

    /// The name with these digits; `nil` if they are not the ``digits`` of one.
    init?(digits: String) {
        guard let shard = Self.shard(String(digits.prefix(2))),
            let (name, _) = Self.parse(digits.dropFirst(2) + ".0", shard: shard)
        else { return nil }
        self = name
    }

    /// A name that ``write(to:)`` wrote.
    ///
    /// - Precondition: at least 16 bytes.
    init(_ bytes: ArraySlice<UInt8>) {
        let fields = ByteReader(bytes)
        self.init(high: fields.number(at: 0), low: fields.number(at: 8))
    }

    /// Appends the name's 16 bytes to `output`, as journals and lists keep them.
    func write(to output: inout [UInt8]) {
        output.append(bigEndian: high)
        output.append(bigEndian: low)
    }

    /// The name and slot of the file `fileName` in `shard`; `nil` if no store names a file like that.
    static func parse(_ fileName: String, shard: Int) -> (name: EntryName, slot: Int)? {
        let bytes = Array(fileName.utf8)
        guard bytes.count > 31, bytes[30] == UInt8(ascii: ".") else { return nil }
        var high = UInt64(shard)
        var low: UInt64 = 0
        for (index, byte) in bytes[..<30].enumerated() {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            if index < 14 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
        }
        guard let slot = Int(String(decoding: bytes[31...], as: UTF8.self)), (0...largestSlot).contains(slot) else {
            return nil
        }
        let name = EntryName(high: high, low: low)
        return name.fileName(slot: slot) == fileName ? (name, slot) : nil
    }

    var shard: Int { Int(high >> 56) }

    /// The digest of the keys with this name, by which other stores' changes are reported.
    var digest: KeyDigest { KeyDigest(high: high, low: low) }

    /// All 32 digits, as lists are named.
    var digits: String { Self.shardName(shard) + fileName(slot: 0).dropLast(2) }

    func fileName(slot: Int) -> String {
        String(unsafeUninitializedCapacity: 31 + 20) { buffer in
            for index in 0..<30 {
                let rest = index < 14 ? high >> UInt64(52 - index * 4) : low >> UInt64(116 - index * 4)
                buffer[index] = Self.digits[Int(rest & 15)]
            }
            buffer[30] = UInt8(ascii: ".")
            var count = 31
            for digit in String(slot).utf8 {
                buffer[count] = digit
                count += 1
            }
            return count
        }
    }

    static func shardName(_ shard: Int) -> String {
        String(decoding: [digits[shard >> 4], digits[shard & 15]], as: UTF8.self)
    }

    /// The shard that a directory's name is of; `nil` if it is of none.
    static func shard(_ directoryName: String) -> Int? {
        guard let shard = UInt8(directoryName, radix: 16).map(Int.init) else { return nil }
        return shardName(shard) == directoryName ? shard : nil
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

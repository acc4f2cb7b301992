import Sealing

/// The secret keys of the names of an encrypted file store: without them nobody can tell which key, tag or deadline a name
/// stands for, or whether there is an entry for some key.
///
/// SipHash-2-4-128 with a secret key is a pseudorandom function; its 128 bits are as long as those of other file stores.
struct NameKeys: Sendable {
    /// How many random bytes they are all made from.
    static let secretByteCount = 32

    private typealias Key = (UInt64, UInt64)
    private let entries: Key
    private let tags: Key
    private let buckets: Key
    private let bucketMasks: Key

    init(secret: SecretBytes, salt: [UInt8]) {
        let purpose = Array("typed-cache names".utf8)
        let bytes = KeyDerivation.key(from: secret, salt: salt, purpose: purpose, byteCount: 64)
        // Little-endian, as SipHash takes the bytes of a key.
        let words = bytes.withUnsafeBytes { bytes in
            let fields = ByteReader(bytes)
            return (0..<8).map { (fields.number(at: $0 * 8) as UInt64).byteSwapped }
        }
        entries = (words[0], words[1])
        tags = (words[2], words[3])
        buckets = (words[4], words[5])
        bucketMasks = (words[6], words[7])
    }

    func name(of key: StoreKey) -> EntryName { EntryName(SipHash128(key.bytes, key: entries)) }

    func name(ofTag tag: [UInt8]) -> EntryName { EntryName(SipHash128(tag, key: tags)) }

    /// The list of a bucket: half of the bucket's hash, then the bucket itself, masked by a hash of that half.
    func list(of bucket: WheelBucket) -> String {
        let half = hash(bucket.packed, buckets)
        return EntryName(high: half, low: bucket.packed ^ hash(half, bucketMasks)).digits
    }

    /// The bucket of a list; `nil` if it is not a list of these keys.
    func bucket(of list: String) -> WheelBucket? {
        guard let name = EntryName(digits: list) else { return nil }
        let packed = name.low ^ hash(name.high, bucketMasks)
        return hash(packed, buckets) == name.high ? WheelBucket(packed: packed) : nil
    }

    private func hash(_ word: UInt64, _ key: Key) -> UInt64 {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: word)
        return SipHash128(bytes, key: key).high
    }
}
